// Attention over a list of contexts of any length, the heads in the lanes.
//
// Queries, keys and what heads write are tables with one row per token and one per position; a context picks rows. With
// the heads in the lanes its scores, softmax and mixture need no sums over lanes until the stream itself. Tokens that no
// context of the step holds have no row, and only last tokens have queries: most words of a real table are answers.
#pragma once
#include "output.h"
#include "products.h"
#include "readout.h"
#include "shape.h"

namespace ROTE_ISA {

// The tokens that have a row in a table, in the order of their rows.
struct TokenRows {
  std::vector<int32_t> tokens, row;  // of each row its token; of each token its row, -1 where it has none

  explicit TokenRows(int vocab) : row(vocab, -1) {}
  void clear() {
    for (int32_t token : tokens) row[token] = -1;
    tokens.clear();
  }
  void add(int32_t token) {
    if (row[token] >= 0) return;
    row[token] = static_cast<int32_t>(tokens.size());
    tokens.push_back(token);
  }
  int count() const { return static_cast<int>(tokens.size()); }
};

class ListAttention {
 public:
  explicit ListAttention(const Shape& s)
      : s_(s), output_(s), held_(s.vocab), asked_(s.vocab), heads_((s.heads + W - 1) / W), lanes_(static_cast<long>(heads_) * W) {
    const long r = s.rank, k = s.head_dim, d = s.dim;
    pack_query_.resize(s.inner * r * lanes_), pack_key_.resize(s.inner * r * lanes_);
    pack_value_.resize(s.inner * k * lanes_), pack_output_.resize(d * k * lanes_);
    share_.resize(static_cast<long>(BLOCK) * W * s.context * lanes_);
    d_share_.resize(s.context * lanes_), whole_query_.resize(r * lanes_);
    d_pack_.resize((s.inner > d ? s.inner : d) * (r > k ? r : k) * lanes_);
    d_stream_.resize(static_cast<long>(s.vocab) * d);
  }

  static constexpr int BLOCK = 8;  // panels of contexts at once
  void contexts(const Table& table, const Slots& slots) {
    if (&slots == slots_ && slots.version == version_) return;
    table_ = &table, slots_ = &slots, version_ = slots.version;
    const int S = s_.context;
    held_.clear(), asked_.clear();
    for (int32_t row : slots.context) {
      if (row < 0) continue;
      const int32_t* tokens = table.contexts + static_cast<long>(row) * S;
      for (int s = 0; s < S; s++) held_.add(tokens[s]);
      asked_.add(tokens[S - 1]);
    }
    rows_ = held_.count() + S, queries_ = asked_.count() + 1;
    if (rows_ > most_rows_ || queries_ > most_queries_) allocate();
  }
  int blocks() const { return static_cast<int>((slots_->context.size() + BLOCK * W - 1) / (BLOCK * W)); }
  int most_panels() const { return BLOCK; }
  int panels(int block) const {
    long left = static_cast<long>(slots_->context.size()) / W - static_cast<long>(block) * BLOCK;
    return static_cast<int>(left < BLOCK ? left : BLOCK);
  }
  long slot(int block) const { return static_cast<long>(block) * BLOCK * W; }

  static long slots_for(long contexts) { return (contexts + W - 1) / W * W; }

  void prepare(const float* parameters) {
    const int N = held_.count(), S = s_.context, d = s_.dim, r = s_.rank, k = s_.head_dim, inner = s_.inner;
    parameters_ = parameters;
    output_.forward(parameters);
    const float *E = parameters + s_.tokens, *P = parameters + s_.layers[0].positions;
    const float* C = s_.compressed ? parameters + s_.layers[0].compress : nullptr;
    for (int n = 0; n < N; n++) {
      const float* from = E + static_cast<long>(held_.tokens[n]) * d;
      float* to = read_ + static_cast<long>(n) * inner;
      if (!C) {
        std::memcpy(to, from, sizeof(float) * d);
        continue;
      }
      for (int y = 0; y < inner; y++) {
        float total = 0;
        for (int x = 0; x < d; x++) total += C[y * d + x] * from[x];
        to[y] = total;
      }
    }
    std::memcpy(read_ + static_cast<long>(N) * inner, P, sizeof(float) * S * inner);
    for (int n = 0; n < queries_; n++)
      std::memcpy(read_asked_ + static_cast<long>(n) * inner, read_ + static_cast<long>(asked_row(n)) * inner, sizeof(float) * inner);
    pack(parameters + s_.layers[0].query, r, s_.scale, pack_query_);
    pack(parameters + s_.layers[0].key, r, 1.f, pack_key_);
    pack(parameters + s_.layers[0].value, k, 1.f, pack_value_);
    for (int h = 0; h < s_.heads; h++)
      for (int i = 0; i < d * k; i++) pack_output_[i * lanes_ + h] = output_.matrix[static_cast<long>(h) * d * k + i];
    project(queries_, read_asked_, pack_query_, r, query_);
    project(rows_, read_, pack_key_, r, key_);
    project(rows_, read_, pack_value_, k, value_);
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
      in_tiles<TILE>(d, [&](int start, auto count) {
        constexpr int D = decltype(count)::value;
        V sum[D] = {};
        for (int s = 0; s < S; s++) {
          const float *w = written_ + (held(tokens[s]) * d + start) * lanes_, *p = written_ + (at(s) * d + start) * lanes_;
          for (long h = 0; h < lanes_; h += W) {
            const V a = load(share + s * lanes_ + h);
#pragma GCC unroll 6
            for (int x = 0; x < D; x++) sum[x] += a * (load(w + x * lanes_ + h) + load(p + x * lanes_ + h));
          }
        }
        for (int x = 0; x < D; x++) to[(start + x) * W] = embedded[start + x] + (position ? position[start + x] : 0.f) + sum_lanes(sum[x]);
      });
    }
  }

  void start_backward() {
    const long bytes = sizeof(float) * lanes_;
    std::memset(d_query_, 0, bytes * queries_ * s_.rank), std::memset(d_key_, 0, bytes * rows_ * s_.rank);
    std::memset(d_written_, 0, bytes * rows_ * s_.dim), d_stream_.zero();
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
        const long token = held(tokens[s]) * d * lanes_, position = at(s) * d * lanes_;
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
      ask(tokens);
      float* d_asked = d_query_ + asked(tokens) * r * lanes_;
      for (long h = 0; h < lanes_; h += W)
        in_tiles<TILE / 2>(r, [&](int start, auto count) {
          constexpr int R = decltype(count)::value;
          V q[R], d_q[R];
          for (int x = 0; x < R; x++) {
            const long i = (start + x) * lanes_ + h;
            q[x] = load(whole_query_ + i), d_q[x] = load(d_asked + i);
          }
          for (int s = 0; s < S; s++) {
            const V score = load(d_share_ + s * lanes_ + h);
            const long token = (held(tokens[s]) * r + start) * lanes_ + h, position = (at(s) * r + start) * lanes_ + h;
#pragma GCC unroll 3
            for (int x = 0; x < R; x++) {
              const long t = token + x * lanes_, p = position + x * lanes_;
              d_q[x] += score * (load(key_ + t) + load(key_ + p));
              const V part = score * q[x];
              store(d_key_ + t, load(d_key_ + t) + part);
              store(d_key_ + p, load(d_key_ + p) + part);
            }
          }
          for (int x = 0; x < R; x++) store(d_asked + (start + x) * lanes_ + h, d_q[x]);
        });
    }
  }

  void finish(const float* parameters, float* g) {
    const int N = held_.count(), S = s_.context, d = s_.dim, r = s_.rank, k = s_.head_dim, inner = s_.inner;
    // The last position is asked about in every context: its query's gradient is the sum over tokens.
    float* last = d_query_ + static_cast<long>(asked_.count()) * r * lanes_;
    for (int n = 0; n < asked_.count(); n++)
      for (long i = 0; i < r * lanes_; i += W) store(last + i, load(last + i) + load(d_query_ + static_cast<long>(n) * r * lanes_ + i));
    multiply_each<Into::set>(rows_, k, d, heads_, each(d_written_, d), {pack_output_, lanes_, k * lanes_, W}, each(d_value_, k));
    multiply_each<Into::set>(d, k, rows_, heads_, {d_written_, lanes_, d * lanes_, W}, {value_, lanes_, k * lanes_, W},
                             {d_pack_, k * lanes_, lanes_, W});
    for (int h = 0; h < s_.heads; h++)
      for (int i = 0; i < d * k; i++) output_.gradient[static_cast<long>(h) * d * k + i] = d_pack_[i * lanes_ + h];
    output_.backward(parameters, g);
    std::memset(d_read_, 0, sizeof(float) * rows_ * inner), std::memset(d_read_asked_, 0, sizeof(float) * queries_ * inner);
    unproject(queries_, read_asked_, d_query_, pack_query_, r, s_.scale, g + s_.layers[0].query, d_read_asked_);
    unproject(rows_, read_, d_key_, pack_key_, r, 1.f, g + s_.layers[0].key, d_read_);
    unproject(rows_, read_, d_value_, pack_value_, k, 1.f, g + s_.layers[0].value, d_read_);
    for (int n = 0; n < queries_; n++)
      for (int x = 0; x < inner; x++) d_read_[static_cast<long>(asked_row(n)) * inner + x] += d_read_asked_[static_cast<long>(n) * inner + x];
    float *gE = g + s_.tokens, *gP = g + s_.layers[0].positions;
    std::memcpy(gP, d_read_ + static_cast<long>(N) * inner, sizeof(float) * S * inner);
    std::memcpy(gE, d_stream_, sizeof(float) * s_.vocab * d);
    if (s_.carried)
      for (int32_t token : asked_.tokens)
        for (int x = 0; x < d; x++) gP[(S - 1) * d + x] += d_stream_[static_cast<long>(token) * d + x];
    const float *C = s_.compressed ? parameters + s_.layers[0].compress : nullptr, *E = parameters + s_.tokens;
    float* gC = s_.compressed ? g + s_.layers[0].compress : nullptr;
    if (gC) std::memset(gC, 0, sizeof(float) * inner * d);
    for (int n = 0; n < N; n++) {
      const long token = static_cast<long>(held_.tokens[n]) * d;
      for (int y = 0; y < inner; y++) {
        const float dr = d_read_[static_cast<long>(n) * inner + y];
        if (!gC) {
          gE[token + y] += dr;
          continue;
        }
        for (int x = 0; x < d; x++) {
          gC[y * d + x] += dr * E[token + x];
          gE[token + x] += dr * C[y * d + x];
        }
      }
    }
  }

 private:
  static constexpr int TILE = 6;  // dimensions whose sums stay in registers

  long held(int32_t token) const { return held_.row[token]; }
  long at(int position) const { return held_.count() + position; }
  long asked(const int32_t* tokens) const { return asked_.row[tokens[s_.context - 1]]; }
  // Of a row of queries its row among all that is read; the last one is the last position's.
  int asked_row(int n) const { return n < asked_.count() ? held_.row[asked_.tokens[n]] : rows_ - 1; }

  void allocate() {
    const long r = s_.rank, k = s_.head_dim, d = s_.dim;
    most_rows_ = rows_ > most_rows_ ? rows_ : most_rows_, most_queries_ = queries_ > most_queries_ ? queries_ : most_queries_;
    const long n = most_rows_, q = most_queries_;
    read_.resize(n * s_.inner), d_read_.resize(n * s_.inner), read_asked_.resize(q * s_.inner), d_read_asked_.resize(q * s_.inner);
    query_.resize(q * r * lanes_), key_.resize(n * r * lanes_), value_.resize(n * k * lanes_), written_.resize(n * d * lanes_);
    d_query_.resize(q * r * lanes_), d_key_.resize(n * r * lanes_), d_value_.resize(n * k * lanes_), d_written_.resize(n * d * lanes_);
  }

  // The query of a context: its last token's and the last position's.
  void ask(const int32_t* tokens) {
    const long row = s_.rank * lanes_;
    const float *q = query_ + asked(tokens) * row, *p = query_ + static_cast<long>(asked_.count()) * row;
    for (long i = 0; i < row; i += W) store(whole_query_ + i, load(q + i) + load(p + i));
  }

  Each each(float* table, int columns) const { return {table, columns * lanes_, lanes_, W}; }

  // heads x m x inner to inner x m x lanes.
  void pack(const float* from, int m, float scale, float* to) const {
    const int inner = s_.inner;
    for (int h = 0; h < s_.heads; h++)
      for (int i = 0; i < m; i++)
        for (int x = 0; x < inner; x++)
          to[(static_cast<long>(x) * m + i) * lanes_ + h] = scale * from[(static_cast<long>(h) * m + i) * inner + x];
  }
  void project(int rows, const float* read, float* packed, int m, float* table) const {
    const long row = m * lanes_;
    multiply<false>(rows, s_.inner, m * heads_, {read, s_.inner, 1}, {packed, row, W}, {table, row, W});
  }
  void unproject(int rows, const float* read, float* d_table, float* packed, int m, float scale, float* g, float* d_read) {
    const long row = m * lanes_;
    const int inner = s_.inner;
    multiply<false>(inner, rows, m * heads_, {read, 1, inner}, {d_table, row, W}, {d_pack_, row, W});
    for (int h = 0; h < s_.heads; h++)
      for (int i = 0; i < m; i++)
        for (int x = 0; x < inner; x++)
          g[(static_cast<long>(h) * m + i) * inner + x] = scale * d_pack_[(static_cast<long>(x) * m + i) * lanes_ + h];
    contract<Sums::add>(rows, inner, m * heads_, {d_table, row, W}, {packed, row, W}, {d_read, inner, 1});
  }

  void scores(const int32_t* tokens, float* share) {
    const int S = s_.context, r = s_.rank;
    ask(tokens);
    for (int s = 0; s < S; s++) {
      const float *key = key_ + held(tokens[s]) * r * lanes_, *kp = key_ + at(s) * r * lanes_;
      for (long h = 0; h < lanes_; h += W) {
        V sum = V{};
        for (int x = 0; x < r; x++) {
          const long i = x * lanes_ + h;
          sum += load(whole_query_ + i) * (load(key + i) + load(kp + i));
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
  TokenRows held_, asked_;  // tokens of the step's contexts, and those among them that are last
  int rows_ = 0, queries_ = 0, most_rows_ = 0, most_queries_ = 0, heads_;
  long lanes_, version_ = -1;
  const Table* table_ = nullptr;
  const Slots* slots_ = nullptr;
  const float* parameters_ = nullptr;
  Floats read_, read_asked_, whole_query_, pack_query_, pack_key_, pack_value_, pack_output_, query_, key_, value_, written_, share_;
  Floats d_share_, d_query_, d_key_, d_value_, d_written_, d_pack_, d_read_, d_read_asked_, d_stream_;
};

}  // namespace ROTE_ISA
