// One layer of a deep model on a block of contexts, one context per lane: causal attention with its skip connection, then
// the MLP with its own if there is one. Every position of every context is computed; a last layer asks at the last
// position only.
#pragma once
#include <memory>

#include "feed_forward.h"
#include "products.h"
#include "shape.h"

namespace ROTE_ISA {

class DeepLayer {
 public:
  // `panels` of contexts; panel s * panels + p of a stream holds position s of the p-th of them.
  DeepLayer(const Shape& s, const Layer& at, int panels, bool last)
      : s_(s), at_(at), panels_(panels), all_(panels * s.context), asked_(last ? panels : all_), last_(last) {
    const long H = s.heads, r = s.rank, k = s.head_dim, d = s.dim, inner = s.inner, S = s.context, all = static_cast<long>(all_) * W,
               asked = static_cast<long>(asked_) * W;
    stream_.resize(d * all), query_.resize(H * r * asked), key_.resize(H * r * all), value_.resize(H * k * all);
    share_.resize(H * S * asked), mixed_.resize(H * k * asked);
    d_query_.resize(H * r * asked), d_key_.resize(H * r * all), d_value_.resize(H * k * all), d_mixed_.resize(H * k * asked);
    if (!s.carried) read_.resize(inner * all), d_read_.resize(inner * all);
    if (s.compressed) written_.resize(inner * asked), d_written_.resize(inner * asked);
    output_.resize(inner * H * k), scores_.resize(S * W);
    g_query_.resize(H * r * inner * W), g_key_.resize(H * r * inner * W), g_value_.resize(H * k * inner * W), g_output_.resize(inner * H * k * W);
    if (s.compressed) g_compress_.resize(inner * d * W), g_decompress_.resize(d * inner * W);
    if (at.positions >= 0) g_positions_.resize(S * inner * W);
    if (s.width > 0) feed_forward_ = std::make_unique<FeedForward>(s, at, asked_);
  }

  int asked() const { return asked_; }

  void prepare(const float* parameters) {
    const int H = s_.heads, k = s_.head_dim, inner = s_.inner;
    for (int h = 0; h < H; h++)
      for (int x = 0; x < inner; x++)
        std::memcpy(output_ + (static_cast<long>(x) * H + h) * k, parameters + at_.output + (static_cast<long>(h) * inner + x) * k, sizeof(float) * k);
  }

  void start_backward() {
    g_query_.zero(), g_key_.zero(), g_value_.zero(), g_output_.zero();
    if (s_.compressed) g_compress_.zero(), g_decompress_.zero();
    if (at_.positions >= 0) g_positions_.zero();
    if (feed_forward_) feed_forward_->start_backward();
  }

  // `in`: stream at every position (changed: positions that it carries are added to it); `out`: stream at the asked positions.
  void forward(const float* parameters, float* in, float* out) {
    const int H = s_.heads, r = s_.rank, k = s_.head_dim, d = s_.dim, inner = s_.inner;
    if (at_.positions >= 0 && s_.carried) add_positions(parameters, in);
    std::memcpy(stream_, in, sizeof(float) * stream_.size());
    float* read = in;
    if (!s_.carried) {
      read = read_;
      if (s_.compressed)
        multiply<false>(inner, d, all_, {parameters + at_.compress, d, 1}, rows(in, d), rows(read_, inner));
      else
        std::memcpy(read_, in, sizeof(float) * read_.size());
      add_positions(parameters, read_);
    }
    const long skipped = static_cast<long>(all_ - asked_) * W;
    multiply<false>(H * r, inner, asked_, {parameters + at_.query, inner, 1}, rows(read + skipped * inner, inner), rows(query_, H * r));
    multiply<false>(H * r, inner, all_, {parameters + at_.key, inner, 1}, rows(read, inner), rows(key_, H * r));
    multiply<false>(H * k, inner, all_, {parameters + at_.value, inner, 1}, rows(read, inner), rows(value_, H * k));
    attend();
    std::memcpy(out, in + skipped * d, sizeof(float) * asked_ * d * W);
    if (s_.compressed) {
      multiply<false>(inner, H * k, asked_, {output_, static_cast<long>(H) * k, 1}, rows(mixed_, H * k), rows(written_, inner));
      multiply<true>(d, inner, asked_, {parameters + at_.decompress, inner, 1}, rows(written_, inner), rows(out, d));
    } else {
      multiply<true>(d, H * k, asked_, {output_, static_cast<long>(H) * k, 1}, rows(mixed_, H * k), rows(out, d));
    }
    if (feed_forward_) feed_forward_->forward(parameters, asked_, out);
  }

  // `d_out`: gradient by the stream at the asked positions; `d_in`: by the stream at every position.
  void backward(const float* parameters, float* d_out, float* d_in) {
    const int H = s_.heads, r = s_.rank, k = s_.head_dim, d = s_.dim, inner = s_.inner;
    const long skipped = static_cast<long>(all_ - asked_) * W;
    if (feed_forward_) feed_forward_->backward(parameters, asked_, d_out);
    float *d_written = d_out, *read = stream_, *d_read = d_in;
    if (!s_.carried) read = read_, d_read = d_read_;
    if (s_.compressed) {
      d_written = d_written_;
      multiply<false>(inner, d, asked_, {parameters + at_.decompress, 1, inner}, rows(d_out, d), rows(d_written_, inner));
      contract<Sums::partial>(d, inner, asked_, rows(d_out, d), rows(written_, inner), {g_decompress_, static_cast<long>(inner) * W, W});
    }
    multiply<false>(H * k, inner, asked_, {output_, 1, static_cast<long>(H) * k}, rows(d_written, inner), rows(d_mixed_, H * k));
    contract<Sums::partial>(inner, H * k, asked_, rows(d_written, inner), rows(mixed_, H * k), {g_output_, static_cast<long>(H) * k * W, W});
    attend_backward();
    multiply<false>(inner, H * r, all_, {parameters + at_.key, 1, inner}, rows(d_key_, H * r), rows(d_read, inner));
    multiply<true>(inner, H * k, all_, {parameters + at_.value, 1, inner}, rows(d_value_, H * k), rows(d_read, inner));
    multiply<true>(inner, H * r, asked_, {parameters + at_.query, 1, inner}, rows(d_query_, H * r), rows(d_read + skipped * inner, inner));
    const long step = static_cast<long>(inner) * W;
    contract<Sums::partial>(H * r, inner, asked_, rows(d_query_, H * r), rows(read + skipped * inner, inner), {g_query_, step, W});
    contract<Sums::partial>(H * r, inner, all_, rows(d_key_, H * r), rows(read, inner), {g_key_, step, W});
    contract<Sums::partial>(H * k, inner, all_, rows(d_value_, H * k), rows(read, inner), {g_value_, step, W});
    if (!s_.carried) sum_positions(d_read_);
    if (s_.compressed) {
      contract<Sums::partial>(inner, d, all_, rows(d_read_, inner), rows(stream_, d), {g_compress_, static_cast<long>(d) * W, W});
      multiply<false>(d, inner, all_, {parameters + at_.compress, 1, d}, rows(d_read_, inner), rows(d_in, d));
    } else if (!s_.carried) {
      std::memcpy(d_in, d_read_, sizeof(float) * d_read_.size());
    }
    for (long i = 0; i < static_cast<long>(asked_) * d * W; i += W) store(d_in + skipped * d + i, load(d_in + skipped * d + i) + load(d_out + i));
    if (at_.positions >= 0 && s_.carried) sum_positions(d_in);
  }

  void finish(float* g) const {
    const int H = s_.heads, k = s_.head_dim, inner = s_.inner;
    sum_into(g_query_, g + at_.query), sum_into(g_key_, g + at_.key), sum_into(g_value_, g + at_.value);
    for (int h = 0; h < H; h++)
      for (int x = 0; x < inner; x++)
        for (int c = 0; c < k; c++)
          g[at_.output + (static_cast<long>(h) * inner + x) * k + c] = sum_lanes(load(g_output_ + ((static_cast<long>(x) * H + h) * k + c) * W));
    const bool add = &at_ != &s_.layers.front();
    if (s_.compressed) sum_into(g_compress_, g + at_.compress, add), sum_into(g_decompress_, g + at_.decompress, add);
    if (at_.positions >= 0) sum_into(g_positions_, g + at_.positions, add && s_.one_table);
    if (feed_forward_) feed_forward_->finish(g);
  }

 private:
  static Rows rows(float* p, int count) { return {p, W, static_cast<long>(count) * W}; }
  static void sum_into(const Floats& partial, float* to, bool add = false) {
    for (long i = 0; i < partial.size() / W; i++) to[i] = (add ? to[i] : 0.f) + sum_lanes(load(partial + i * W));
  }
  void add_positions(const float* parameters, float* stream) const {
    const int inner = s_.inner;
    const float* P = parameters + at_.positions;
    for (int v = 0; v < all_; v++)
      for (int x = 0; x < inner; x++) {
        float* to = stream + (static_cast<long>(v) * inner + x) * W;
        store(to, load(to) + P[v / panels_ * inner + x]);
      }
  }
  void sum_positions(const float* d_stream) {
    const int inner = s_.inner;
    for (int v = 0; v < all_; v++)
      for (int x = 0; x < inner; x++) {
        float* to = g_positions_ + (static_cast<long>(v / panels_) * inner + x) * W;
        store(to, load(to) + load(d_stream + (static_cast<long>(v) * inner + x) * W));
      }
  }
  int position(int asked) const { return last_ ? s_.context - 1 : asked / panels_; }
  // Panel of position s for the contexts of an asked panel.
  long panel(int asked, int s) const { return static_cast<long>(s) * panels_ + asked % panels_; }

  void attend() {
    const int H = s_.heads, r = s_.rank, k = s_.head_dim, S = s_.context;
    for (int v = 0; v < asked_; v++)
      for (int h = 0; h < H; h++) {
        const float* q = query_ + (static_cast<long>(v) * H + h) * r * W;
        float *a = share_ + (static_cast<long>(v) * H + h) * S * W, *z = mixed_ + (static_cast<long>(v) * H + h) * k * W;
        const int before = position(v) + 1;
        V top = splat(-3e38f), sum = V{};
        for (int s = 0; s < before; s++) {
          const float* key = key_ + (panel(v, s) * H + h) * r * W;
          V score = V{};
          for (int x = 0; x < r; x++) score += load(q + x * W) * load(key + x * W);
          score = score * s_.scale;
          store(a + s * W, score);
          top = larger(top, score);
        }
        for (int s = 0; s < before; s++) {
          V e = exponential(load(a + s * W) - top);
          store(a + s * W, e);
          sum += e;
        }
        const V factor = reciprocal(sum);
        for (int s = 0; s < before; s++) store(a + s * W, load(a + s * W) * factor);
        for (int x = 0; x < k; x++) {
          V total = V{};
          for (int s = 0; s < before; s++) total += load(a + s * W) * load(value_ + ((panel(v, s) * H + h) * k + x) * W);
          store(z + x * W, total);
        }
      }
  }

  void attend_backward() {
    const int H = s_.heads, r = s_.rank, k = s_.head_dim, S = s_.context;
    d_key_.zero(), d_value_.zero();
    for (int v = 0; v < asked_; v++)
      for (int h = 0; h < H; h++) {
        const float *q = query_ + (static_cast<long>(v) * H + h) * r * W, *a = share_ + (static_cast<long>(v) * H + h) * S * W;
        const float* dz = d_mixed_ + (static_cast<long>(v) * H + h) * k * W;
        float* dq = d_query_ + (static_cast<long>(v) * H + h) * r * W;
        const int before = position(v) + 1;
        V mean = V{};
        for (int s = 0; s < before; s++) {
          const long place = (panel(v, s) * H + h) * k * W;
          const V share = load(a + s * W);
          V total = V{};
          for (int x = 0; x < k; x++) {
            const V dzx = load(dz + x * W);
            total += dzx * load(value_ + place + x * W);
            store(d_value_ + place + x * W, load(d_value_ + place + x * W) + share * dzx);
          }
          store(scores_ + s * W, total);
          mean += share * total;
        }
        for (int x = 0; x < r; x++) store(dq + x * W, V{});
        for (int s = 0; s < before; s++) {
          const long place = (panel(v, s) * H + h) * r * W;
          const V score = load(a + s * W) * (load(scores_ + s * W) - mean) * s_.scale;
          for (int x = 0; x < r; x++) {
            store(dq + x * W, load(dq + x * W) + score * load(key_ + place + x * W));
            store(d_key_ + place + x * W, load(d_key_ + place + x * W) + score * load(q + x * W));
          }
        }
      }
  }

  const Shape& s_;
  const Layer& at_;
  int panels_, all_, asked_;
  bool last_;
  Floats stream_, read_, query_, key_, value_, share_, mixed_, written_, output_, scores_;
  Floats d_read_, d_query_, d_key_, d_value_, d_mixed_, d_written_;
  Floats g_query_, g_key_, g_value_, g_output_, g_compress_, g_decompress_, g_positions_;
  std::unique_ptr<FeedForward> feed_forward_;
};

}  // namespace ROTE_ISA
