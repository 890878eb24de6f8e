// The MLP with its skip connection, on panels of contexts: R <- R + W_2 sigma(W_1 R + b).
#pragma once
#include "products.h"
#include "shape.h"

namespace ROTE_ISA {

class FeedForward {
 public:
  FeedForward(const Shape& s, const Layer& at, int panels)
      : s_(s), at_(at), before_(static_cast<long>(panels) * s.width * W), neurons_(static_cast<long>(panels) * s.width * W),
        input_(static_cast<long>(panels) * s.dim * W), d_in_(static_cast<long>(s.width) * s.dim * W),
        d_out_(static_cast<long>(s.dim) * s.width * W), d_bias_(static_cast<long>(s.width) * W) {}

  void forward(const float* parameters, int panels, float* R) {
    const int d = s_.dim, w = s_.width;
    std::memcpy(input_, R, sizeof(float) * panels * d * W);
    multiply<false>(w, d, panels, {parameters + at_.mlp_in, d, 1}, rows(input_, d), rows(before_, w));
    const float* bias = parameters + at_.mlp_bias;
    for (int v = 0; v < panels; v++)
      for (int m = 0; m < w; m++) {
        const long i = (static_cast<long>(v) * w + m) * W;
        V x = load(before_ + i) + bias[m];
        V y = larger(x, V{}), slope = x > 0.f ? splat(1.f) : V{};
        if (s_.gelu) gelu(x, y, slope);
        store(neurons_ + i, y);
        store(before_ + i, slope);
      }
    multiply<true>(d, w, panels, {parameters + at_.mlp_out, w, 1}, rows(neurons_, w), rows(R, d));
  }

  void start_backward() { d_in_.zero(), d_out_.zero(), d_bias_.zero(); }

  // dR: gradient by the output on entry, by the input on return.
  void backward(const float* parameters, int panels, float* dR) {
    const int d = s_.dim, w = s_.width;
    contract<Sums::partial>(d, w, panels, rows(dR, d), rows(neurons_, w), {d_out_, static_cast<long>(w) * W, W});
    multiply<false>(w, d, panels, {parameters + at_.mlp_out, 1, w}, rows(dR, d), rows(neurons_, w));
    for (int v = 0; v < panels; v++)
      for (int m = 0; m < w; m++) {
        const long i = (static_cast<long>(v) * w + m) * W;
        V slope = load(neurons_ + i) * load(before_ + i);
        store(neurons_ + i, slope);
        store(d_bias_ + m * W, load(d_bias_ + m * W) + slope);
      }
    contract<Sums::partial>(w, d, panels, rows(neurons_, w), rows(input_, d), {d_in_, static_cast<long>(d) * W, W});
    multiply<true>(d, w, panels, {parameters + at_.mlp_in, 1, d}, rows(neurons_, w), rows(dR, d));
  }

  // Gradients are stored, or added where another pass has stored its own.
  void finish(float* g, bool add = false) const {
    const long size = static_cast<long>(s_.width) * s_.dim;
    sum_into(d_in_, size, add, g + at_.mlp_in);
    sum_into(d_out_, size, add, g + at_.mlp_out);
    sum_into(d_bias_, s_.width, add, g + at_.mlp_bias);
  }

 private:
  static void sum_into(const float* partial, long size, bool add, float* to) {
    for (long i = 0; i < size; i++) to[i] = (add ? to[i] : 0.f) + sum_lanes(load(partial + i * W));
  }
  static Rows rows(float* p, int count) { return {p, W, static_cast<long>(count) * W}; }

  // x Phi(x) and its slope Phi(x) + x phi(x); Phi by Abramowitz and Stegun 7.1.26 (error below 1e-7), whose exponential
  // is also phi's.
  static ROTE_INLINE void gelu(V x, V& y, V& slope) {
    V size = x < 0.f ? -x : x;
    V t = reciprocal(1.f + 0.23164190f * size);
    V bell = exponential(-0.5f * x * x);
    V p = splat(1.061405429f);
    p = p * t - 1.453152027f;
    p = p * t + 1.421413741f;
    p = p * t - 0.284496736f;
    p = p * t + 0.254829592f;
    V tail = 0.5f * p * t * bell;
    V below = x < 0.f ? tail : 1.f - tail;
    y = x * below;
    slope = below + x * bell * 0.398942280f;
  }

  const Shape& s_;
  const Layer& at_;
  Floats before_, neurons_, input_, d_in_, d_out_, d_bias_;
};

}  // namespace ROTE_ISA
