// Attention over a list of contexts of any length, the heads in the lanes.
//
// Queries, keys and what heads write are tables with one row per token and one per position; a context picks rows. With
// the heads in the lanes its scores, softmax and mixture need no sums over lanes until the stream itself.
#pragma once
#include "output.h"
#include "products.h"
#include "readout.h"
#include "shape.h"

namespace ROTE_ISA {

class ListAttention {
 public:
  explicit ListAttention(const Shape& s)
      : s_(s), output_(s), rows_(s.vocab + s.context), heads_((s.heads + W - 1) / W), lanes_(static_cast<long>(heads_) * W) {
    const long r = s.rank, k = s.head_dim, d = s.dim, n = rows_;
    read_.resize(n * s.inner);
    pack_query_.resize(s.inner * r * lanes_), pack_key_.resize(s.inner * r * lanes_);
    pack_value_.resize(s.inner * k * lanes_), pack_output_.resize(d * k * lanes_);
    query_.resize(n * r * lanes_), key_.resize(n * r * lanes_), value_.resize(n * k * lanes_), written_.resize(n * d * lanes_);
    share_.resize(static_cast<long>(BLOCK) * W * s.context * lanes_);
    d_share_.resize(s.context * lanes_);
    d_query_.resize(n * r * lanes_), d_key_.resize(n * r * lanes_), d_value_.resize(n * k * lanes_), d_written_.resize(n * d * lanes_);
    d_pack_.resize((s.inner > d ? s.inner : d) * (r > k ? r : k) * lanes_);
    d_read_.resize(n * s.inner), d_stream_.resize(static_cast<long>(s.vocab) * d);
  }

  static constexpr int BLOCK = 8;  // panels of contexts at once
  void contexts(const Table& table, const Slots& slots) { table_ = &table, slots_ = &slots; }
  int blocks() const { return static_cast<int>((slots_->context.size() + BLOCK * W - 1) / (BLOCK * W)); }
  int most_panels() const { return BLOCK; }
  int panels(int block) const {
    long left = static_cast<long>(slots_->context.size()) / W - static_cast<long>(block) * BLOCK;
    return static_cast<int>(left < BLOCK ? left : BLOCK);
  }
  long slot(int block) const { return static_cast<long>(block) * BLOCK * W; }

  static long slots_for(long contexts) { return (contexts + W - 1) / W * W; }

  void prepare(const float* parameters) {
    const int N = s_.vocab, S = s_.context, d = s_.dim, r = s_.rank, k = s_.head_dim, inner = s_.inner;
    parameters_ = parameters;
    output_.forward(parameters);
    const float *E = parameters + s_.tokens, *P = parameters + s_.layers[0].positions;
    if (s_.compressed) {
      const float* C = parameters + s_.layers[0].compress;
      for (int n = 0; n < N; n++)
        for (int y = 0; y < inner; y++) {
          float total = 0;
          for (int x = 0; x < d; x++) total += C[y * d + x] * E[static_cast<long>(n) * d + x];
          read_[static_cast<long>(n) * inner + y] = total;
        }
    } else {
      std::memcpy(read_, E, sizeof(float) * N * d);
    }
    std::memcpy(read_ + static_cast<long>(N) * inner, P, sizeof(float) * S * inner);
    pack(parameters + s_.layers[0].query, r, s_.scale, pack_query_);
    pack(parameters + s_.layers[0].key, r, 1.f, pack_key_);
    pack(parameters + s_.layers[0].value, k, 1.f, pack_value_);
    for (int h = 0; h < s_.heads; h++)
      for (int i = 0; i < d * k; i++) pack_output_[i * lanes_ + h] = output_.matrix[static_cast<long>(h) * d * k + i];
    project(pack_query_, r, query_);
    project(pack_key_, r, key_);
    project(pack_value_, k, value_);
    multiply_each<Into::set>(rows_, d, k, heads_, each(value_, k), {pack_output_, k * lanes_, lanes_, W}, each(written_, d));
  }

  void forward(int block, float* R) {
    const int panels_here = panels(block), S = s_.context, d = s_.dim;
    for (int slot = 0; slot < panels_here * W; slot++) {
      float *to = R + static_cast<long>(slot / W) * d * W + slot % W, *share = share_ + static_cast<long>(slot) * S * lanes_;
      const int32_t row = slots_->context[this->slot(block) + slot];
      if (row < 0) {
        for (int x = 0; x < d; x++) to[x * W] = 0;
        continue;
      }
      const int32_t* tokens = table_->contexts + static_cast<long>(row) * S;
      scores(tokens, share);
      softmax(share);
      const float* embedded = parameters_ + s_.tokens + static_cast<long>(tokens[S - 1]) * d;
      const float* position = s_.carried ? parameters_ + s_.layers[0].positions + static_cast<long>(S - 1) * d : nullptr;
      for (int x = 0; x < d; x++) {
        V sum = V{};
        for (int s = 0; s < S; s++) {
          const float *w = written_ + (static_cast<long>(tokens[s]) * d + x) * lanes_, *p = written_ + (static_cast<long>(s_.vocab + s) * d + x) * lanes_;
          for (long h = 0; h < lanes_; h += W) sum += load(share + s * lanes_ + h) * (load(w + h) + load(p + h));
        }
        to[x * W] = embedded[x] + (position ? position[x] : 0.f) + sum_lanes(sum);
      }
    }
  }

  void start_backward() {
    d_query_.zero(), d_key_.zero(), d_written_.zero(), d_stream_.zero();
  }

  void backward(int block, float* dR) {
    const int panels_here = panels(block), S = s_.context, d = s_.dim, r = s_.rank;
    for (int slot = 0; slot < panels_here * W; slot++) {
      const int32_t row = slots_->context[this->slot(block) + slot];
      if (row < 0) continue;
      const float *from = dR + static_cast<long>(slot / W) * d * W + slot % W, *share = share_ + static_cast<long>(slot) * S * lanes_;
      const int32_t* tokens = table_->contexts + static_cast<long>(row) * S;
      float* ds = d_stream_ + static_cast<long>(tokens[S - 1]) * d;
      for (int x = 0; x < d; x++) ds[x] += from[x * W];
      for (int s = 0; s < S; s++) {
        const long token = static_cast<long>(tokens[s]) * d * lanes_, position = static_cast<long>(s_.vocab + s) * d * lanes_;
        for (long h = 0; h < lanes_; h += W) {
          const V a = load(share + s * lanes_ + h);
          V sum = V{};
          for (int x = 0; x < d; x++) {
            const long i = x * lanes_ + h;
            const float dr = from[x * W];
            sum += dr * (load(written_ + token + i) + load(written_ + position + i));
            V part = a * dr;
            store(d_written_ + token + i, load(d_written_ + token + i) + part);
            store(d_written_ + position + i, load(d_written_ + position + i) + part);
          }
          store(d_share_ + s * lanes_ + h, sum);
        }
      }
      softmax_backward(share);
      const long asked = static_cast<long>(tokens[S - 1]) * r * lanes_, asked_position = static_cast<long>(s_.vocab + S - 1) * r * lanes_;
      for (int s = 0; s < S; s++) {
        const long token = static_cast<long>(tokens[s]) * r * lanes_, position = static_cast<long>(s_.vocab + s) * r * lanes_;
        for (long h = 0; h < lanes_; h += W) {
          const V score = load(d_share_ + s * lanes_ + h);
          for (int x = 0; x < r; x++) {
            const long i = x * lanes_ + h;
            const V q = load(query_ + asked + i) + load(query_ + asked_position + i);
            const V key = load(key_ + token + i) + load(key_ + position + i);
            store(d_query_ + asked + i, load(d_query_ + asked + i) + score * key);
            store(d_key_ + token + i, load(d_key_ + token + i) + score * q);
            store(d_key_ + position + i, load(d_key_ + position + i) + score * q);
          }
        }
      }
    }
  }

  void finish(const float* parameters, float* g) {
    const int N = s_.vocab, S = s_.context, d = s_.dim, r = s_.rank, k = s_.head_dim, inner = s_.inner;
    // The last position is asked about in every context: its query's gradient is the sum over tokens.
    float* last = d_query_ + static_cast<long>(N + S - 1) * r * lanes_;
    std::memset(last, 0, sizeof(float) * r * lanes_);
    for (int n = 0; n < N; n++)
      for (long i = 0; i < r * lanes_; i += W) store(last + i, load(last + i) + load(d_query_ + static_cast<long>(n) * r * lanes_ + i));
    multiply_each<Into::set>(rows_, k, d, heads_, each(d_written_, d), {pack_output_, lanes_, k * lanes_, W}, each(d_value_, k));
    multiply_each<Into::set>(d, k, rows_, heads_, {d_written_, lanes_, d * lanes_, W}, {value_, lanes_, k * lanes_, W},
                             {d_pack_, k * lanes_, lanes_, W});
    for (int h = 0; h < s_.heads; h++)
      for (int i = 0; i < d * k; i++) output_.gradient[static_cast<long>(h) * d * k + i] = d_pack_[i * lanes_ + h];
    output_.backward(parameters, g);
    d_read_.zero();
    unproject(d_query_, pack_query_, r, s_.scale, g + s_.layers[0].query);
    unproject(d_key_, pack_key_, r, 1.f, g + s_.layers[0].key);
    unproject(d_value_, pack_value_, k, 1.f, g + s_.layers[0].value);
    float *gE = g + s_.tokens, *gP = g + s_.layers[0].positions;
    std::memcpy(gP, d_read_ + static_cast<long>(N) * inner, sizeof(float) * S * inner);
    std::memcpy(gE, d_stream_, sizeof(float) * N * d);
    if (!s_.compressed) {
      for (int n = 0; n < N; n++)
        for (int x = 0; x < d; x++) {
          if (s_.carried) gP[(S - 1) * d + x] += d_stream_[static_cast<long>(n) * d + x];
          gE[static_cast<long>(n) * d + x] += d_read_[static_cast<long>(n) * d + x];
        }
      return;
    }
    const float *C = parameters + s_.layers[0].compress, *E = parameters + s_.tokens;
    float* gC = g + s_.layers[0].compress;
    std::memset(gC, 0, sizeof(float) * inner * d);
    for (int n = 0; n < N; n++)
      for (int y = 0; y < inner; y++) {
        const float dr = d_read_[static_cast<long>(n) * inner + y];
        for (int x = 0; x < d; x++) {
          gC[y * d + x] += dr * E[static_cast<long>(n) * d + x];
          gE[static_cast<long>(n) * d + x] += dr * C[y * d + x];
        }
      }
  }

 private:
  Each each(float* table, int columns) const { return {table, columns * lanes_, lanes_, W}; }

  // heads x m x inner to inner x m x lanes.
  void pack(const float* from, int m, float scale, float* to) const {
    const int inner = s_.inner;
    for (int h = 0; h < s_.heads; h++)
      for (int i = 0; i < m; i++)
        for (int x = 0; x < inner; x++)
          to[(static_cast<long>(x) * m + i) * lanes_ + h] = scale * from[(static_cast<long>(h) * m + i) * inner + x];
  }
  void project(float* packed, int m, float* table) const {
    const long row = m * lanes_;
    multiply<false>(rows_, s_.inner, m * heads_, {read_, s_.inner, 1}, {packed, row, W}, {table, row, W});
  }
  void unproject(float* d_table, float* packed, int m, float scale, float* g) {
    const long row = m * lanes_;
    const int inner = s_.inner;
    multiply<false>(inner, rows_, m * heads_, {read_, 1, inner}, {d_table, row, W}, {d_pack_, row, W});
    for (int h = 0; h < s_.heads; h++)
      for (int i = 0; i < m; i++)
        for (int x = 0; x < inner; x++)
          g[(static_cast<long>(h) * m + i) * inner + x] = scale * d_pack_[(static_cast<long>(x) * m + i) * lanes_ + h];
    contract<Sums::add>(rows_, inner, m * heads_, {d_table, row, W}, {packed, row, W}, {d_read_, inner, 1});
  }

  void scores(const int32_t* tokens, float* share) const {
    const int S = s_.context, r = s_.rank;
    const float *q = query_ + static_cast<long>(tokens[S - 1]) * r * lanes_, *qp = query_ + static_cast<long>(s_.vocab + S - 1) * r * lanes_;
    for (int s = 0; s < S; s++) {
      const float *key = key_ + static_cast<long>(tokens[s]) * r * lanes_, *kp = key_ + static_cast<long>(s_.vocab + s) * r * lanes_;
      for (long h = 0; h < lanes_; h += W) {
        V sum = V{};
        for (int x = 0; x < r; x++) {
          const long i = x * lanes_ + h;
          sum += (load(q + i) + load(qp + i)) * (load(key + i) + load(kp + i));
        }
        store(share + s * lanes_ + h, sum);
      }
    }
  }
  void softmax(float* share) const {
    const int S = s_.context;
    for (long h = 0; h < lanes_; h += W) {
      V top = load(share + h), sum = V{};
      for (int s = 1; s < S; s++) top = larger(top, load(share + s * lanes_ + h));
      for (int s = 0; s < S; s++) {
        V e = exponential(load(share + s * lanes_ + h) - top);
        sum += e;
        store(share + s * lanes_ + h, e);
      }
      V factor = reciprocal(sum);
      for (int s = 0; s < S; s++) store(share + s * lanes_ + h, load(share + s * lanes_ + h) * factor);
    }
  }
  // d_share_ becomes the gradient by the scores.
  void softmax_backward(const float* share) {
    const int S = s_.context;
    for (long h = 0; h < lanes_; h += W) {
      V mean = V{};
      for (int s = 0; s < S; s++) mean += load(share + s * lanes_ + h) * load(d_share_ + s * lanes_ + h);
      for (int s = 0; s < S; s++) {
        float* to = d_share_ + s * lanes_ + h;
        store(to, load(share + s * lanes_ + h) * (load(to) - mean));
      }
    }
  }

  const Shape& s_;
  EffectiveOutput output_;
  int rows_, heads_;
  long lanes_;
  const Table* table_ = nullptr;
  const Slots* slots_ = nullptr;
  const float* parameters_ = nullptr;
  Floats read_, pack_query_, pack_key_, pack_value_, pack_output_, query_, key_, value_, written_, share_;
  Floats d_share_, d_query_, d_key_, d_value_, d_written_, d_pack_, d_read_, d_stream_;
};

}  // namespace ROTE_ISA
