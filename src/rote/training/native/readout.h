// Unembedding, softmax and cross-entropy of blocks of contexts, one context per lane.
#pragma once
#include <vector>

#include "products.h"
#include "shape.h"

// Distinct contexts with a sparse next-token distribution each.
struct Table {
  const int32_t* contexts;
  long count;
  const float* weights;
  const int64_t* starts;
  const int32_t* tokens;
  const float* probabilities;
  const int32_t* answers;
};

namespace ROTE_ISA {

// The contexts of one step, in lanes; -1 and weight 0 where a lane is empty.
struct Slots {
  std::vector<int32_t> context;
  std::vector<int32_t> token;  // the first next token of each context
  Floats weight;
  bool single = true;  // no context has two next tokens
  long version = 0;  // counts assignments

  void assign(const Table& table, long size) {
    version++;
    context.assign(size, -1);
    token.assign(size, 0);
    if (weight.size() != size)
      weight.resize(size);
    else
      weight.zero();
    single = table.starts[table.count] == table.count;
  }
  void put(const Table& table, long slot, int32_t row, float share) {
    context[slot] = row;
    token[slot] = table.tokens[table.starts[row]];
    weight[slot] = share;
  }
};

class Readout {
 public:
  explicit Readout(const Shape& s) : s_(s), partial_(static_cast<long>(s.vocab) * s.dim * W) {
    const long room = 12 * 1024;  // floats of logits that stay in the nearest caches
    chunk_ = static_cast<int>(room / (static_cast<long>(s.vocab) * W));
    // Never fewer than LEAST: the unembedding's gradient is read and written once a chunk.
    chunk_ = chunk_ < LEAST ? LEAST : (chunk_ > MOST ? MOST : chunk_);
    weighted_.resize(static_cast<long>(chunk_) * s.dim * W);
    logits_.resize(static_cast<long>(chunk_) * s.vocab * W);
  }

  int chunk() const { return chunk_; }
  // Focus q minimises (1 - e^(-q c)) / q of a context's cross-entropy c: q = 0 is c itself, and the larger q the less
  // training spends on contexts that it has all but given up.
  void start(float focus) {
    partial_.zero();
    focus_ = focus;
    loss = right = objective = 0;
  }

  // R and dR: panels of dim rows. Adds to loss, right and the unembedding's partial gradient.
  void gradient(const float* U, const Table& table, const Slots& slots, long slot, int panels, float* R, float* dR) {
    const int N = s_.vocab, d = s_.dim;
    for (int v = 0; v < panels; v += chunk_) {
      int here = panels - v < chunk_ ? panels - v : chunk_;
      float *r = R + static_cast<long>(v) * d * W, *dr = dR + static_cast<long>(v) * d * W;
      Rows rows{r, W, static_cast<long>(d) * W}, logits{logits_, W, static_cast<long>(N) * W};
      multiply<false>(N, d, here, {U, d, 1}, rows, logits);
      V factor[MOST];
      for (int p = 0; p < here; p++)
        factor[p] = softmax(table, slots, slot + static_cast<long>(v + p) * W, logits_ + static_cast<long>(p) * N * W);
      multiply<false>(d, N, here, {U, 1, d}, logits, {dr, W, static_cast<long>(d) * W});
      // The softmax is left without its denominator and weight: dim rows are multiplied by them instead of vocab rows.
      for (int p = 0; p < here; p++)
        for (int x = 0; x < d; x++) {
          const long i = (static_cast<long>(p) * d + x) * W;
          store(dr + i, load(dr + i) * factor[p]);
          store(weighted_ + i, load(r + i) * factor[p]);
        }
      contract<Sums::partial>(N, d, here, logits, {weighted_, W, static_cast<long>(d) * W}, {partial_, static_cast<long>(d) * W, W});
    }
  }

  void finish(float* gU) const {
    for (long i = 0; i < static_cast<long>(s_.vocab) * s_.dim; i++) gU[i] = sum_lanes(load(partial_ + i * W));
  }

  // The token with the strictly largest logit of every context, -1 where there is none.
  void predict(const float* U, const Slots& slots, long slot, int panels, float* R, int32_t* out) {
    const int N = s_.vocab, d = s_.dim;
    for (int v = 0; v < panels; v += chunk_) {
      int here = panels - v < chunk_ ? panels - v : chunk_;
      multiply<false>(N, d, here, {U, d, 1}, {R + static_cast<long>(v) * d * W, W, static_cast<long>(d) * W},
                      {logits_, W, static_cast<long>(N) * W});
      for (int p = 0; p < here; p++)
        for (int l = 0; l < W; l++) {
          int32_t row = slots.context[slot + static_cast<long>(v + p) * W + l];
          if (row >= 0) out[row] = strict_maximum(logits_ + static_cast<long>(p) * N * W + l);
        }
    }
  }

  double loss = 0, right = 0, objective = 0;  // `objective` where there is a focus

 private:
  // Logits of one panel become the gradient of the loss by them, but for a factor that is given back.
  V softmax(const Table& table, const Slots& slots, long slot, float* L) {
    const int N = s_.vocab;
    V top = load(L), other = load(L + (N > 1 ? W : 0));
    int n = 2;
    for (; n + 1 < N; n += 2) {
      top = larger(top, load(L + n * W));
      other = larger(other, load(L + (n + 1) * W));
    }
    if (n < N) top = larger(top, load(L + n * W));
    top = larger(top, other);
    const int32_t *token = &slots.token[slot], *context = &slots.context[slot];
    alignas(64) float own[W], crossed[W];
    if (slots.single) {
      for (int l = 0; l < W; l++) crossed[l] = own[l] = L[token[l] * W + l];
    } else {
      for (int l = 0; l < W; l++) {
        crossed[l] = own[l] = 0;
        if (context[l] < 0) continue;
        own[l] = L[table.answers[context[l]] * W + l];
        for (int64_t e = table.starts[context[l]]; e < table.starts[context[l] + 1]; e++)
          crossed[l] += table.probabilities[e] * L[table.tokens[e] * W + l];
      }
    }
    V sum = V{}, more = V{};
    for (n = 0; n + 1 < N; n += 2) {
      V first = exponential(load(L + n * W) - top), second = exponential(load(L + (n + 1) * W) - top);
      store(L + n * W, first);
      store(L + (n + 1) * W, second);
      sum += first;
      more += second;
    }
    if (n < N) {
      V first = exponential(load(L + n * W) - top);
      store(L + n * W, first);
      sum += first;
    }
    sum += more;
    const V weight = load(slots.weight + slot);
    if (slots.single) {
      for (int l = 0; l < W; l++) L[token[l] * W + l] -= sum[l];
    } else {
      for (int l = 0; l < W; l++) {
        if (context[l] < 0) continue;
        for (int64_t e = table.starts[context[l]]; e < table.starts[context[l] + 1]; e++)
          L[table.tokens[e] * W + l] -= sum[l] * table.probabilities[e];
      }
    }
    const V lost = logarithm(sum) + (top - load(crossed));
    const V hit = load(own) >= top ? weight : V{};
    loss += sum_lanes(weight * lost);
    right += sum_lanes(hit);
    if (focus_ == 0.f) return weight * reciprocal(sum);
    const V kept = exponential(-focus_ * lost);
    objective += sum_lanes(weight * (1.f - kept)) / focus_;
    return weight * kept * reciprocal(sum);
  }

  int32_t strict_maximum(const float* logit) const {
    int best = 0;
    bool strict = std::isfinite(logit[0]);
    for (int n = 1; n < s_.vocab; n++) {
      float x = logit[static_cast<long>(n) * W], top = logit[static_cast<long>(best) * W];
      if (!std::isfinite(x)) return -1;
      if (x > top) {
        best = n;
        strict = true;
      } else if (x == top) {
        strict = false;
      }
    }
    return strict ? best : -1;
  }

  static constexpr int LEAST = 8, MOST = 16;  // panels at once
  const Shape& s_;
  int chunk_;
  float focus_ = 0;
  Floats logits_, partial_, weighted_;
};

}  // namespace ROTE_ISA
