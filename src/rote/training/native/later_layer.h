// A layer after the first over all pairs of tokens, the last token in the lanes.
//
// At the first position a token attends to itself alone, so that its stream, keys and values depend on it only: they are
// computed once for every token (columns of a table) and shared by all pairs that begin with it. At the last position the
// softmax over two is a sigmoid of a score difference: a = sigmoid(q . (k1 - k2)), and a head mixes v2 + a (v1 - v2).
#pragma once
#include <memory>

#include "feed_forward.h"
#include "products.h"
#include "shape.h"

namespace ROTE_ISA {

class LaterLayer {
 public:
  // `panels` of pairs at once; `columns` panels of tokens, also the number of panels of one first token.
  LaterLayer(const Shape& s, const Layer& at, int panels, int columns, bool last)
      : s_(s), at_(at), columns_(columns), last_(last), read_rows_(2 * s.heads * s.rank + s.heads * s.head_dim) {
    const long H = s.heads, k = s.head_dim, d = s.dim, inner = s.inner, p = static_cast<long>(panels) * W, c = static_cast<long>(columns) * W;
    own_.room(s, p), first_.room(s, c);
    share_.resize(H * p), d_own_.resize(read_rows_ * p);
    first_key_.resize(c * H * s.rank), first_value_.resize(c * H * k), d_first_key_.resize(c * H * s.rank), d_first_value_.resize(c * H * k);
    sum_key_.resize(H * s.rank * W), sum_value_.resize(H * k * W), output_.resize(inner * H * k);
    g_read_.resize(read_rows_ * inner * W), g_output_.resize(inner * H * k * W);
    if (s.compressed) g_compress_.resize(inner * d * W), g_decompress_.resize(d * inner * W);
    if (at.positions >= 0) g_positions_.resize(2 * inner * W);
    if (s.width > 0) {
      neurons_ = std::make_unique<FeedForward>(s, at, panels);
      if (!last) first_neurons_ = std::make_unique<FeedForward>(s, at, columns);
    }
  }

  void prepare(const float* parameters) {
    const int H = s_.heads, k = s_.head_dim, inner = s_.inner;
    for (int h = 0; h < H; h++)
      for (int x = 0; x < inner; x++)
        std::memcpy(output_ + (static_cast<long>(x) * H + h) * k, parameters + at_.output + (static_cast<long>(h) * inner + x) * k, sizeof(float) * k);
  }

  void start_backward() {
    g_read_.zero(), g_output_.zero();
    if (s_.compressed) g_compress_.zero(), g_decompress_.zero();
    if (at_.positions >= 0) g_positions_.zero();
    if (neurons_) neurons_->start_backward();
    if (first_neurons_) first_neurons_->start_backward();
  }

  // The stream of every token at the first position, before this layer and on return after it.
  void forward_first(const float* parameters, float* X) {
    const int H = s_.heads, r = s_.rank, k = s_.head_dim;
    read(parameters, first_, 0, columns_, X);
    for (int v = 0; v < columns_; v++) {
      const float* table = first_.table + static_cast<long>(v) * read_rows_ * W;
      for (int l = 0; l < W; l++) {
        const long token = static_cast<long>(v) * W + l;
        for (int m = 0; m < H * r; m++) first_key_[token * H * r + m] = table[(H * r + m) * W + l];
        for (int m = 0; m < H * k; m++) first_value_[token * H * k + m] = table[(2 * H * r + m) * W + l];
      }
      std::memcpy(first_.mixed + static_cast<long>(v) * H * k * W, table + 2l * H * r * W, sizeof(float) * H * k * W);
    }
    if (last_) return;
    write(parameters, first_, columns_, X);
    if (first_neurons_) first_neurons_->forward(parameters, columns_, X);
  }

  // The stream of pairs at the last position; panel p begins with token first + p / columns.
  void forward(const float* parameters, int first, int panels, float* R) {
    const int H = s_.heads, r = s_.rank, k = s_.head_dim;
    read(parameters, own_, 1, panels, R);
    for (int p = 0; p < panels; p++) {
      const long token = first + p / columns_;
      for (int h = 0; h < H; h++) {
        const float *q = own_.table + (static_cast<long>(p) * read_rows_ + h * r) * W, *key = q + static_cast<long>(H) * r * W;
        const float* value = own_.table + (static_cast<long>(p) * read_rows_ + 2 * H * r + h * k) * W;
        const float *k1 = first_key_ + (token * H + h) * r, *v1 = first_value_ + (token * H + h) * k;
        V score = V{};
        for (int x = 0; x < r; x++) score += load(q + x * W) * (k1[x] - load(key + x * W));
        const V a = reciprocal(1.f + exponential(-s_.scale * score));
        store(share_ + (static_cast<long>(p) * H + h) * W, a);
        float* z = own_.mixed + (static_cast<long>(p) * H + h) * k * W;
        for (int x = 0; x < k; x++) {
          const V own = load(value + x * W);
          store(z + x * W, own + a * (v1[x] - own));
        }
      }
    }
    write(parameters, own_, panels, R);
    if (neurons_) neurons_->forward(parameters, panels, R);
  }

  // dR: gradient by the stream after this layer, on return by the stream before it. Blocks hold whole first tokens.
  void backward(const float* parameters, int first, int panels, float* dR) {
    const int H = s_.heads, r = s_.rank, k = s_.head_dim;
    if (neurons_) neurons_->backward(parameters, panels, dR);
    unwrite(parameters, own_, panels, dR);
    for (int p = 0; p < panels; p++) {
      const long token = first + p / columns_;
      if (p % columns_ == 0) sum_key_.zero(), sum_value_.zero();
      for (int h = 0; h < H; h++) {
        const long own = (static_cast<long>(p) * read_rows_ + h * r) * W, other = own + static_cast<long>(H) * r * W;
        const long value = (static_cast<long>(p) * read_rows_ + 2 * H * r + h * k) * W;
        const float *k1 = first_key_ + (token * H + h) * r, *v1 = first_value_ + (token * H + h) * k;
        const float* dz = own_.d_mixed + (static_cast<long>(p) * H + h) * k * W;
        float *sum_k = sum_key_ + h * r * W, *sum_v = sum_value_ + h * k * W;
        const V a = load(share_ + (static_cast<long>(p) * H + h) * W);
        V total = V{};
        for (int x = 0; x < k; x++) {
          const V d = load(dz + x * W), moved = a * d;
          total += d * (v1[x] - load(own_.table + value + x * W));
          store(sum_v + x * W, load(sum_v + x * W) + moved);
          store(d_own_ + value + x * W, d - moved);
        }
        const V score = total * (a - a * a) * s_.scale;
        for (int x = 0; x < r; x++) {
          const V asked = score * load(own_.table + own + x * W);
          store(d_own_ + own + x * W, score * (k1[x] - load(own_.table + other + x * W)));
          store(d_own_ + other + x * W, -asked);
          store(sum_k + x * W, load(sum_k + x * W) + asked);
        }
      }
      if (p % columns_ == columns_ - 1) {
        for (int m = 0; m < H * r; m++) d_first_key_[token * H * r + m] = sum_lanes(load(sum_key_ + m * W));
        for (int m = 0; m < H * k; m++) d_first_value_[token * H * k + m] = sum_lanes(load(sum_value_ + m * W));
      }
    }
    unread(parameters, own_, 1, panels, d_own_, 0, dR);
  }

  // Likewise for the first position, when all pairs are done.
  void backward_first(const float* parameters, float* dX) {
    const int H = s_.heads, r = s_.rank, k = s_.head_dim;
    if (first_neurons_) first_neurons_->backward(parameters, columns_, dX);
    if (last_)
      first_.d_mixed.zero();
    else
      unwrite(parameters, first_, columns_, dX);
    for (int v = 0; v < columns_; v++) {
      float* table = first_.table + static_cast<long>(v) * read_rows_ * W;  // no longer needed: becomes its gradient
      const float* mixed = first_.d_mixed + static_cast<long>(v) * H * k * W;
      for (int l = 0; l < W; l++) {
        const long token = static_cast<long>(v) * W + l;
        const bool there = token < s_.vocab;
        for (int m = 0; m < H * r; m++) table[(H * r + m) * W + l] = there ? d_first_key_[token * H * r + m] : 0.f;
        for (int m = 0; m < H * k; m++) table[(2 * H * r + m) * W + l] = there ? d_first_value_[token * H * k + m] + mixed[m * W + l] : 0.f;
      }
    }
    unread(parameters, first_, 0, columns_, first_.table, H * r, dX);
  }

  void finish(float* g) const {
    const int H = s_.heads, k = s_.head_dim, inner = s_.inner;
    sum_into(g_read_, g + at_.query);  // queries, keys and values lie one behind the other
    for (int h = 0; h < H; h++)
      for (int x = 0; x < inner; x++)
        for (int c = 0; c < k; c++)
          g[at_.output + (static_cast<long>(h) * inner + x) * k + c] = sum_lanes(load(g_output_ + ((static_cast<long>(x) * H + h) * k + c) * W));
    if (s_.compressed) sum_into(g_compress_, g + at_.compress, true), sum_into(g_decompress_, g + at_.decompress, true);
    if (at_.positions >= 0) sum_into(g_positions_, g + at_.positions, s_.one_table);
    if (neurons_) neurons_->finish(g);
    if (first_neurons_) first_neurons_->finish(g, true);
  }

 private:
  // What one position's forward pass leaves for its backward pass.
  struct Kept {
    Floats stream, apart, table, mixed, written, d_mixed, d_read, d_written;  // `apart`: what heads read where it is not the stream
    void room(const Shape& s, long lanes) {
      const long mixing = static_cast<long>(s.heads) * s.head_dim;
      stream.resize(s.dim * lanes), table.resize((2l * s.heads * s.rank + mixing) * lanes), mixed.resize(mixing * lanes), d_mixed.resize(mixing * lanes);
      if (!s.carried) apart.resize(s.inner * lanes), d_read.resize(s.inner * lanes);
      if (s.compressed) written.resize(s.inner * lanes), d_written.resize(s.inner * lanes);
    }
    float* read(const Shape& s) { return s.carried ? stream : apart; }
  };

  static Rows rows(float* p, int count) { return {p, W, static_cast<long>(count) * W}; }
  static void sum_into(const Floats& partial, float* to, bool add = false) {
    for (long i = 0; i < partial.size() / W; i++) to[i] = (add ? to[i] : 0.f) + sum_lanes(load(partial + i * W));
  }
  void add_position(const float* parameters, int position, int panels, float* stream) const {
    const int inner = s_.inner;
    const float* P = parameters + at_.positions + position * inner;
    for (int v = 0; v < panels; v++)
      for (int x = 0; x < inner; x++) {
        float* to = stream + (static_cast<long>(v) * inner + x) * W;
        store(to, load(to) + P[x]);
      }
  }
  void sum_position(int position, int panels, const float* d_stream) {
    const int inner = s_.inner;
    for (int v = 0; v < panels; v++)
      for (int x = 0; x < inner; x++) {
        float* to = g_positions_ + (static_cast<long>(position) * inner + x) * W;
        store(to, load(to) + load(d_stream + (static_cast<long>(v) * inner + x) * W));
      }
  }

  // Queries, keys and values of a stream, to which the positions that it carries are added.
  void read(const float* parameters, Kept& kept, int position, int panels, float* R) {
    const int d = s_.dim, inner = s_.inner;
    if (at_.positions >= 0 && s_.carried) add_position(parameters, position, panels, R);
    std::memcpy(kept.stream, R, sizeof(float) * panels * d * W);
    if (!s_.carried) {
      if (s_.compressed)
        multiply<false>(inner, d, panels, {parameters + at_.compress, d, 1}, rows(R, d), rows(kept.apart, inner));
      else
        std::memcpy(kept.apart, R, sizeof(float) * panels * d * W);
      add_position(parameters, position, panels, kept.apart);
    }
    multiply<false>(read_rows_, inner, panels, {parameters + at_.query, inner, 1}, rows(kept.read(s_), inner), rows(kept.table, read_rows_));
  }
  // R += W_O mixed.
  void write(const float* parameters, Kept& kept, int panels, float* R) {
    const int d = s_.dim, inner = s_.inner, m = s_.heads * s_.head_dim;
    if (s_.compressed) {
      multiply<false>(inner, m, panels, {output_, m, 1}, rows(kept.mixed, m), rows(kept.written, inner));
      multiply<true>(d, inner, panels, {parameters + at_.decompress, inner, 1}, rows(kept.written, inner), rows(R, d));
    } else {
      multiply<true>(d, m, panels, {output_, m, 1}, rows(kept.mixed, m), rows(R, d));
    }
  }
  void unwrite(const float* parameters, Kept& kept, int panels, float* dR) {
    const int d = s_.dim, inner = s_.inner, m = s_.heads * s_.head_dim;
    float* d_written = dR;
    if (s_.compressed) {
      d_written = kept.d_written;
      multiply<false>(inner, d, panels, {parameters + at_.decompress, 1, inner}, rows(dR, d), rows(kept.d_written, inner));
      contract<Sums::partial>(d, inner, panels, rows(dR, d), rows(kept.written, inner), {g_decompress_, static_cast<long>(inner) * W, W});
    }
    multiply<false>(m, inner, panels, {output_, 1, m}, rows(d_written, inner), rows(kept.d_mixed, m));
    contract<Sums::partial>(inner, m, panels, rows(d_written, inner), rows(kept.mixed, m), {g_output_, static_cast<long>(m) * W, W});
  }
  // Gradient by queries, keys and values, from row `from` on; added to dR and the weights' gradients.
  void unread(const float* parameters, Kept& kept, int position, int panels, float* d_table, int from, float* dR) {
    const int d = s_.dim, inner = s_.inner, count = read_rows_ - from;
    const Rows d_rows{d_table + static_cast<long>(from) * W, W, static_cast<long>(read_rows_) * W};
    const Scalars matrix{parameters + at_.query + static_cast<long>(from) * inner, 1, inner};
    contract<Sums::partial>(count, inner, panels, d_rows, rows(kept.read(s_), inner), {g_read_ + static_cast<long>(from) * inner * W, static_cast<long>(inner) * W, W});
    if (s_.carried) {
      multiply<true>(inner, count, panels, matrix, d_rows, rows(dR, inner));
      if (at_.positions >= 0) sum_position(position, panels, dR);
      return;
    }
    multiply<false>(inner, count, panels, matrix, d_rows, rows(kept.d_read, inner));
    sum_position(position, panels, kept.d_read);
    if (s_.compressed) {
      contract<Sums::partial>(inner, d, panels, rows(kept.d_read, inner), rows(kept.stream, d), {g_compress_, static_cast<long>(d) * W, W});
      multiply<true>(d, inner, panels, {parameters + at_.compress, 1, d}, rows(kept.d_read, inner), rows(dR, d));
    } else {
      for (long i = 0; i < static_cast<long>(panels) * d * W; i += W) store(dR + i, load(dR + i) + load(kept.d_read + i));
    }
  }

  const Shape& s_;
  const Layer& at_;
  int columns_;
  bool last_;
  int read_rows_;
  Kept own_, first_;
  Floats share_, d_own_, first_key_, first_value_, d_first_key_, d_first_value_, sum_key_, sum_value_, output_;
  Floats g_read_, g_output_, g_compress_, g_decompress_, g_positions_;
  std::unique_ptr<FeedForward> neurons_, first_neurons_;
};

}  // namespace ROTE_ISA
