// Attention over all pairs of tokens (two positions), the last token in the lanes.
//
// With two positions the softmax is a sigmoid of a score difference: a head gives the first token i the share
// a = sigmoid(q_j . (k1_i - k2_j)) and the stream becomes base_j + sum_h a (w1_hi - w2_hj), where q_j, k2_j, w2_hj depend
// on the last token alone, k1_i, w1_hi on the first, w = W_O W_V x is what a head writes, and base_j = x_j + sum_h w2_hj.
// All are columns of tables over tokens; two further columns hold the positions, so that projections and their gradients
// treat them alike.
#pragma once
#include "output.h"
#include "products.h"
#include "readout.h"
#include "shape.h"

namespace ROTE_ISA {

class GridAttention {
 public:
  // At most so many first tokens at once.
  explicit GridAttention(const Shape& s, int most = 16)
      : s_(s), output_(s), columns_((s.vocab + 2 + W - 1) / W), panels_((s.vocab + W - 1) / W) {
    // As many first tokens at once as keep a block's shares in the second cache: tables are read once a block.
    block_ = static_cast<int>(16384 / (static_cast<long>(s.heads) * panels_ * W));
    block_ = block_ < 4 ? 4 : (block_ > 16 ? 16 : block_);
    if (block_ > most) block_ = most;
    if (block_ > s.vocab) block_ = s.vocab;
    const long H = s.heads, C = static_cast<long>(columns_) * W;
    embedded_.resize(s.dim * C), read_.resize(s.inner * C);
    query_.resize(H * s.rank * C), key_.resize(H * s.rank * C);
    value_.resize(H * s.head_dim * C), written_.resize(H * s.dim * C);
    own_.resize(H * C), base_.resize(s.dim * C);
    first_key_.resize(C * H * s.rank), first_written_.resize(C * H * s.dim);
    share_.resize(H * block_ * C), d_share_.resize(H * block_ * C);
    d_query_.resize(H * s.rank * C), d_key_.resize(H * s.rank * C);
    d_value_.resize(H * s.head_dim * C), d_written_.resize(H * s.dim * C);
    d_own_.resize(H * C), d_base_.resize(s.dim * C);
    d_first_key_.resize(C * H * s.rank), d_first_written_.resize(C * H * s.dim);
    d_read_.resize(s.inner * C), d_embedded_.resize(s.dim * C);
  }

  int first(int block) const { return block * block_; }
  int blocks() const { return (s_.vocab + block_ - 1) / block_; }
  int most_panels() const { return block_ * panels_; }
  int panels(int block) const { return height(block) * panels_; }
  long slot(int block) const { return static_cast<long>(block) * block_ * panels_ * W; }

  // For a model of several layers: the stream after this layer at the first position, where a token attends to itself
  // alone, with one column per token; and, between the last block and `finish`, its gradient.
  void first_stream(const float* parameters, float* X) const {
    const int d = s_.dim, H = s_.heads;
    const float* P = parameters + s_.layers[0].positions;
    for (int v = 0; v < panels_; v++)
      for (int x = 0; x < d; x++)
        for (int l = 0; l < W; l++) {
          const float* written = first_written_ + (static_cast<long>(v) * W + l) * H * d + x;
          const long place = (static_cast<long>(v) * d + x) * W + l;
          float sum = embedded_[place] + (s_.carried ? P[x] : 0.f);
          for (int h = 0; h < H; h++) sum += written[static_cast<long>(h) * d];
          X[place] = sum;
        }
  }
  void first_stream_backward(const float* dX) {
    const int d = s_.dim, H = s_.heads;
    for (int n = 0; n < s_.vocab; n++)
      for (int h = 0; h < H; h++)
        for (int x = 0; x < d; x++) d_first_written_[(static_cast<long>(n) * H + h) * d + x] += dX[(static_cast<long>(n / W) * d + x) * W + n % W];
  }
  // What `finish` leaves out: the first position's own part of its stream.
  void add_first_stream(const float* dX, float* g) const {
    const int d = s_.dim;
    for (int n = 0; n < s_.vocab; n++)
      for (int x = 0; x < d; x++) {
        const float own = dX[(static_cast<long>(n / W) * d + x) * W + n % W];
        g[s_.tokens + static_cast<long>(n) * d + x] += own;
        if (s_.carried) g[s_.layers[0].positions + x] += own;
      }
  }

  // The slots of every pair that the table has.
  void all_slots(const Table& table, Slots& slots) const {
    slots.assign(table, static_cast<long>(s_.vocab) * panels_ * W);
    for (long row = 0; row < table.count; row++) {
      const int32_t* pair = table.contexts + row * 2;
      slots.put(table, static_cast<long>(pair[0]) * panels_ * W + pair[1], static_cast<int32_t>(row), table.weights[row]);
    }
  }

  void prepare(const float* parameters) {
    const int N = s_.vocab, d = s_.dim, H = s_.heads, r = s_.rank, k = s_.head_dim, inner = s_.inner;
    output_.forward(parameters);
    const float *E = parameters + s_.tokens, *P = parameters + s_.layers[0].positions;
    for (int n = 0; n < N; n++)
      for (int x = 0; x < d; x++) at(embedded_, d, x, n) = E[static_cast<long>(n) * d + x];
    if (s_.compressed)
      multiply<false>(inner, d, columns_, {parameters + s_.layers[0].compress, d, 1}, panels_of(embedded_, d), panels_of(read_, inner));
    else
      std::memcpy(read_, embedded_, sizeof(float) * embedded_.size());
    for (int x = 0; x < inner; x++) {
      at(read_, inner, x, N) = P[x];
      at(read_, inner, x, N + 1) = P[inner + x];
    }
    multiply<false>(H * r, inner, columns_, {parameters + s_.layers[0].query, inner, 1}, panels_of(read_, inner), panels_of(query_, H * r));
    multiply<false>(H * r, inner, columns_, {parameters + s_.layers[0].key, inner, 1}, panels_of(read_, inner), panels_of(key_, H * r));
    multiply<false>(H * k, inner, columns_, {parameters + s_.layers[0].value, inner, 1}, panels_of(read_, inner), panels_of(value_, H * k));
    for (int h = 0; h < H; h++)
      multiply<false>(d, k, columns_, {output_.matrix + static_cast<long>(h) * d * k, k, 1},
                      {value_ + h * k * W, W, static_cast<long>(H) * k * W}, {written_ + h * d * W, W, static_cast<long>(H) * d * W});
    first_rows(key_, H * r, first_key_);
    first_rows(written_, H * d, first_written_);
    for (int m = 0; m < H * r; m++) {
      const float ask = at(query_, H * r, m, N + 1), own = at(key_, H * r, m, N + 1);
      for (int v = 0; v < columns_; v++) {
        float *q = query_ + (static_cast<long>(v) * H * r + m) * W, *key = key_ + (static_cast<long>(v) * H * r + m) * W;
        store(q, (load(q) + ask) * s_.scale);
        store(key, load(key) + own);
      }
    }
    for (int m = 0; m < H * d; m++) {
      const float own = at(written_, H * d, m, N + 1);
      for (int v = 0; v < columns_; v++) {
        float* w = written_ + (static_cast<long>(v) * H * d + m) * W;
        store(w, load(w) + own);
      }
    }
    for (int v = 0; v < panels_; v++) {
      for (int h = 0; h < H; h++) {
        const float *q = query_ + (static_cast<long>(v) * H + h) * r * W, *key = key_ + (static_cast<long>(v) * H + h) * r * W;
        V sum = V{};
        for (int x = 0; x < r; x++) sum += load(q + x * W) * load(key + x * W);
        store(own_ + (static_cast<long>(v) * H + h) * W, sum);
      }
      for (int x = 0; x < d; x++) {
        V sum = load(embedded_ + (static_cast<long>(v) * d + x) * W);
        if (s_.carried) sum += P[d + x];
        for (int h = 0; h < H; h++) sum += load(written_ + ((static_cast<long>(v) * H + h) * d + x) * W);
        store(base_ + (static_cast<long>(v) * d + x) * W, sum);
      }
    }
  }

  // The stream after a block of first tokens: panels (first token, last tokens) of dim rows.
  void forward(int block, float* R) {
    const int d = s_.dim, H = s_.heads, r = s_.rank, ib = height(block);
    const long i0 = static_cast<long>(block) * block_, sp = static_cast<long>(H) * block_ * W;
    for (int h = 0; h < H; h++)
      multiply<false>(ib, r, panels_, {first_key_ + i0 * H * r + h * r, static_cast<long>(H) * r, 1},
                      {query_ + h * r * W, W, static_cast<long>(H) * r * W}, {share_ + h * block_ * W, W, sp});
    for (int v = 0; v < panels_; v++)
      for (int h = 0; h < H; h++) {
        V own = load(own_ + (static_cast<long>(v) * H + h) * W);
        float* a = share_ + v * sp + h * block_ * W;
        for (int i = 0; i < ib; i++) store(a + i * W, reciprocal(1.f + exponential(own - load(a + i * W))));
      }
    for (int i = 0; i < ib; i++) {
      float* to = R + static_cast<long>(i) * panels_ * d * W;
      std::memcpy(to, base_, sizeof(float) * panels_ * d * W);
      multiply<true>(d, H, panels_, {first_written_ + (i0 + i) * H * d, 1, d}, {share_ + i * W, block_ * W, sp},
                     {to, W, static_cast<long>(d) * W});
    }
    const long step = static_cast<long>(d) * W;
    multiply_each<Into::subtract>(ib, d, H, panels_, {share_, W, block_ * W, sp},
                                  {written_, W, step, step * H}, {R, step * panels_, W, step});
  }

  void start_backward() {
    d_query_.zero(), d_written_.zero(), d_own_.zero(), d_base_.zero();
  }

  void backward(int block, float* dR) {
    const int d = s_.dim, H = s_.heads, r = s_.rank, ib = height(block);
    const long i0 = static_cast<long>(block) * block_, sp = static_cast<long>(H) * block_ * W, step = static_cast<long>(d) * W;
    for (int i = 0; i < ib; i++) {
      float* from = dR + i * panels_ * step;
      Rows dr{from, W, step}, a{share_ + i * W, block_ * W, sp};
      contract<Sums::set>(H, d, panels_, a, dr, {d_first_written_ + (i0 + i) * H * d, d, 1});
      multiply<false>(H, d, panels_, {first_written_ + (i0 + i) * H * d, d, 1}, dr, {d_share_ + i * W, block_ * W, sp});
    }
    for (int v = 0; v < panels_; v++)
      for (int x = 0; x < d; x++) {
        V sum = load(d_base_ + v * step + x * W);
        for (int i = 0; i < ib; i++) sum += load(dR + (static_cast<long>(i) * panels_ + v) * step + x * W);
        store(d_base_ + v * step + x * W, sum);
      }
    multiply_each<Into::subtract>(ib, H, d, panels_, {dR, step * panels_, W, step}, {written_, step, W, step * H},
                                  {d_share_, W, block_ * W, sp});
    multiply_each<Into::subtract>(H, d, ib, panels_, {share_, block_ * W, W, sp}, {dR, W, step * panels_, step},
                                  {d_written_, step, W, step * H});
    for (int v = 0; v < panels_; v++)
      for (int h = 0; h < H; h++) {
        float *own = d_own_ + (static_cast<long>(v) * H + h) * W, *ds = d_share_ + v * sp + h * block_ * W;
        const float* a = share_ + v * sp + h * block_ * W;
        V sum = load(own);
        for (int i = 0; i < ib; i++) {
          V share = load(a + i * W), score = load(ds + i * W) * (share - share * share);
          store(ds + i * W, score);
          sum -= score;
        }
        store(own, sum);
      }
    const long qp = static_cast<long>(H) * r * W;
    for (int h = 0; h < H; h++) {
      Rows ds{d_share_ + h * block_ * W, W, sp}, q{query_ + h * r * W, W, qp};
      multiply<true>(r, ib, panels_, {first_key_ + i0 * H * r + h * r, 1, static_cast<long>(H) * r}, ds,
                     {d_query_ + h * r * W, W, qp});
      contract<Sums::set>(ib, r, panels_, ds, q, {d_first_key_ + i0 * H * r + h * r, static_cast<long>(H) * r, 1});
    }
  }

  // Gradients of everything but the unembedding.
  void finish(const float* parameters, float* g) {
    const int N = s_.vocab, d = s_.dim, H = s_.heads, r = s_.rank, k = s_.head_dim, inner = s_.inner;
    for (int v = 0; v < panels_; v++)
      for (int h = 0; h < H; h++) {
        V own = load(d_own_ + (static_cast<long>(v) * H + h) * W);
        for (int x = 0; x < r; x++) {
          const long place = ((static_cast<long>(v) * H + h) * r + x) * W;
          store(d_query_ + place, (load(d_query_ + place) + own * load(key_ + place)) * s_.scale);
          store(d_key_ + place, own * load(query_ + place));
        }
        for (int x = 0; x < d; x++) {
          float* w = d_written_ + ((static_cast<long>(v) * H + h) * d + x) * W;
          store(w, load(w) + load(d_base_ + (static_cast<long>(v) * d + x) * W));
        }
      }
    position_column(d_query_, H * r, N + 1);
    position_column(d_key_, H * r, N + 1);
    position_column(d_written_, H * d, N + 1);
    add_first_rows(d_first_key_, H * r, d_key_);
    add_first_rows(d_first_written_, H * d, d_written_);
    for (int h = 0; h < H; h++) {
      Rows dw{d_written_ + h * d * W, W, static_cast<long>(H) * d * W};
      contract<Sums::set>(d, k, columns_, dw, {value_ + h * k * W, W, static_cast<long>(H) * k * W},
                          {output_.gradient + static_cast<long>(h) * d * k, k, 1});
      multiply<false>(k, d, columns_, {output_.matrix + static_cast<long>(h) * d * k, 1, k}, dw,
                      {d_value_ + h * k * W, W, static_cast<long>(H) * k * W});
    }
    output_.backward(parameters, g);
    const Rows read = panels_of(read_, inner), d_read = panels_of(d_read_, inner);
    contract<Sums::set>(H * r, inner, columns_, panels_of(d_query_, H * r), read, {g + s_.layers[0].query, inner, 1});
    contract<Sums::set>(H * r, inner, columns_, panels_of(d_key_, H * r), read, {g + s_.layers[0].key, inner, 1});
    contract<Sums::set>(H * k, inner, columns_, panels_of(d_value_, H * k), read, {g + s_.layers[0].value, inner, 1});
    multiply<false>(inner, H * r, columns_, {parameters + s_.layers[0].query, 1, inner}, panels_of(d_query_, H * r), d_read);
    multiply<true>(inner, H * r, columns_, {parameters + s_.layers[0].key, 1, inner}, panels_of(d_key_, H * r), d_read);
    multiply<true>(inner, H * k, columns_, {parameters + s_.layers[0].value, 1, inner}, panels_of(d_value_, H * k), d_read);
    float* gP = g + s_.layers[0].positions;
    for (int x = 0; x < inner; x++)
      for (int s = 0; s < 2; s++) {
        gP[s * inner + x] = at(d_read_, inner, x, N + s);
        at(d_read_, inner, x, N + s) = 0;
      }
    const float* d_stream = d_read_;
    if (s_.compressed) {
      contract<Sums::set>(inner, d, columns_, d_read, panels_of(embedded_, d), {g + s_.layers[0].compress, d, 1});
      multiply<false>(d, inner, columns_, {parameters + s_.layers[0].compress, 1, d}, d_read, panels_of(d_embedded_, d));
      d_stream = d_embedded_;
    } else if (s_.carried) {
      for (int x = 0; x < d; x++)
        for (int v = 0; v < panels_; v++) gP[d + x] += sum_lanes(load(d_base_ + (static_cast<long>(v) * d + x) * W));
    }
    float* gE = g + s_.tokens;
    for (int n = 0; n < N; n++)
      for (int x = 0; x < d; x++) {
        const long place = ((static_cast<long>(n / W)) * d + x) * W + n % W;
        gE[static_cast<long>(n) * d + x] = d_stream[place] + d_base_[place];
      }
  }

 private:
  int height(int block) const {
    int left = s_.vocab - block * block_;
    return left < block_ ? left : block_;
  }
  static float& at(float* table, int rows, int row, int column) {
    return table[(static_cast<long>(column / W) * rows + row) * W + column % W];
  }
  static Rows panels_of(float* table, int rows) { return {table, W, static_cast<long>(rows) * W}; }

  // Columns of a table plus its column of the first position, as rows of scalars.
  void first_rows(float* table, int rows, float* to) const {
    for (int v = 0; v < panels_; v++)
      for (int m = 0; m < rows; m++) {
        const float position = at(table, rows, m, s_.vocab);
        V sum = load(table + (static_cast<long>(v) * rows + m) * W) + position;
        for (int l = 0; l < W; l++) to[(static_cast<long>(v) * W + l) * rows + m] = sum[l];
      }
  }
  // The converse for gradients: rows are added to the columns, their sum is the first position's column.
  void add_first_rows(const float* from, int rows, float* table) const {
    const int N = s_.vocab;
    for (int m = 0; m < rows; m++) {
      float total = 0;
      for (int n = 0; n < N; n++) {
        const float x = from[static_cast<long>(n) * rows + m];
        total += x;
        at(table, rows, m, n) += x;
      }
      at(table, rows, m, N) = total;
    }
  }
  // Sum of a table's columns of tokens, stored in a column of positions.
  void position_column(float* table, int rows, int column) const {
    for (int m = 0; m < rows; m++) {
      V sum = V{};
      for (int v = 0; v < panels_; v++) sum += load(table + (static_cast<long>(v) * rows + m) * W);
      at(table, rows, m, s_.vocab) = 0;
      at(table, rows, m, column) = sum_lanes(sum);
    }
  }

  const Shape& s_;
  EffectiveOutput output_;
  int columns_, panels_, block_;
  Floats embedded_, read_, query_, key_, value_, written_, own_, base_, first_key_, first_written_, share_;
  Floats d_share_, d_query_, d_key_, d_value_, d_written_, d_own_, d_base_, d_first_key_, d_first_written_, d_read_,
      d_embedded_;
};

}  // namespace ROTE_ISA
