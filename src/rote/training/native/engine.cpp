// One engine; compiled once per instruction set with its own ROTE_ISA (a namespace) and ROTE_LANES.
#include "engine.h"

#include <memory>
#include <type_traits>
#include <vector>

#include "deep_attention.h"
#include "deep_grid.h"
#include "feed_forward.h"
#include "grid_attention.h"
#include "list_attention.h"
#include "readout.h"

namespace ROTE_ISA {

namespace {

class FusedEngine : public Engine {
 public:
  explicit FusedEngine(const Opening& o)
      : shape_(o.shape), contexts_(o.contexts, o.contexts + o.count * shape_.context), weights_(o.weights, o.weights + o.count),
        starts_(o.starts, o.starts + o.count + 1), tokens_(o.tokens, o.tokens + o.starts[o.count]),
        probabilities_(o.probabilities, o.probabilities + o.starts[o.count]), answers_(o.answers, o.answers + o.count),
        table_{contexts_.data(), o.count, weights_.data(), starts_.data(), tokens_.data(), probabilities_.data(), answers_.data()},
        readout_(shape_), scratch_(shape_.size) {
    const double pairs = static_cast<double>(shape_.vocab) * shape_.vocab;
    // Empty pairs cost as much as full ones in a grid; a list costs about three times as much a context.
    deep_ = shape_.layers.size() > 1;
    grid_ = o.layout == 1 || (o.layout == 0 && shape_.context == 2 && static_cast<double>(o.count) * 3 >= pairs);
  }

  void gradient(const float* parameters, float* g, const int32_t* rows, int batch, float focus, double* out) override {
    FlushToZero flush;
    step(parameters, g, rows, batch, focus);
    out[0] = readout_.loss;
    out[1] = readout_.right;
    out[2] = focus == 0.f ? readout_.loss : readout_.objective;
  }

  int64_t adam(float* p, float* m, float* v, int64_t before, int64_t steps, const float* rates, const float* focus, double beta1, double beta2,
               double epsilon, const int32_t* rows, int batch, float* losses, float* shares) override {
    FlushToZero flush;
    for (int64_t t = 0; t < steps; t++) {
      step(p, scratch_, rows ? rows + t * batch : nullptr, batch, focus[t]);
      losses[t] = static_cast<float>(readout_.loss);
      shares[t] = static_cast<float>(readout_.right);
      if (!std::isfinite(losses[t])) return t;
      const double n = static_cast<double>(before + t + 1);
      update(p, m, v, static_cast<float>(rates[t] / (1 - std::pow(beta1, n))), static_cast<float>(1 / (1 - std::pow(beta2, n))),
             static_cast<float>(beta1), static_cast<float>(beta2), static_cast<float>(epsilon));
    }
    return steps;
  }

  void predict(const float* parameters, int32_t* out) override {
    FlushToZero flush;
    if (grid_)
      all([&](auto& attention, const Slots& slots) { forward_only(attention, slots, parameters, out); });
    else
      listed(nullptr, 0, [&](auto& attention, const Slots& slots) { forward_only(attention, slots, parameters, out); });
  }

 private:
  void step(const float* parameters, float* g, const int32_t* rows, int batch, float focus) {
    readout_.start(focus);
    if (grid_ && !rows)
      all([&](auto& attention, const Slots& slots) { forward_backward(attention, slots, parameters, g); });
    else
      listed(rows, batch, [&](auto& attention, const Slots& slots) { forward_backward(attention, slots, parameters, g); });
  }

  template <class F>
  void all(F&& f) {
    if (deep_)
      with_all(deep_grid_, f);
    else
      with_all(grid_attention_, f);
  }

  template <class Attention, class F>
  void with_all(std::unique_ptr<Attention>& attention, F& f) {
    if (!attention) {
      attention = std::make_unique<Attention>(shape_);
      attention->all_slots(table_, grid_slots_);
    }
    f(*attention, grid_slots_);
  }

  template <class F>
  void listed(const int32_t* rows, int batch, F&& f) {
    Slots& slots = rows ? batch_slots_ : list_slots_;
    if (rows) {
      slots.assign(table_, ListAttention::slots_for(batch));
      for (int b = 0; b < batch; b++) slots.put(table_, b, rows[b], 1.f / static_cast<float>(batch));
    } else if (slots.context.empty()) {
      slots.assign(table_, ListAttention::slots_for(table_.count));
      for (long row = 0; row < table_.count; row++) slots.put(table_, row, static_cast<int32_t>(row), table_.weights[row]);
    }
    if (deep_)
      with(deep_attention_, slots, f);
    else
      with(list_attention_, slots, f);
  }

  template <class Attention, class F>
  void with(std::unique_ptr<Attention>& attention, const Slots& slots, F& f) {
    if (!attention) attention = std::make_unique<Attention>(shape_);
    attention->contexts(table_, slots);
    f(*attention, slots);
  }

  template <class Attention>
  void room(Attention& attention) {
    const int panels = attention.most_panels();
    if (panels > panels_) {
      panels_ = panels;
      stream_.resize(static_cast<long>(panels) * shape_.dim * W);
      d_stream_.resize(static_cast<long>(panels) * shape_.dim * W);
      if (shape_.width > 0 && !deep_) feed_forward_ = std::make_unique<FeedForward>(shape_, shape_.layers[0], panels);
    }
  }

  template <class Attention>
  void forward_backward(Attention& attention, const Slots& slots, const float* parameters, float* g) {
    room(attention);
    attention.prepare(parameters);
    attention.start_backward();
    if (feed_forward_) feed_forward_->start_backward();
    for (int block = 0; block < attention.blocks(); block++) {
      const int panels = attention.panels(block);
      attention.forward(block, stream_);
      if (feed_forward_) feed_forward_->forward(parameters, panels, stream_);
      readout_.gradient(parameters + shape_.unembed, table_, slots, attention.slot(block), panels, stream_, d_stream_);
      if (feed_forward_) feed_forward_->backward(parameters, panels, d_stream_);
      attention.backward(block, d_stream_);
    }
    attention.finish(parameters, g);
    if (feed_forward_) feed_forward_->finish(g);
    readout_.finish(g + shape_.unembed);
  }

  template <class Attention>
  void forward_only(Attention& attention, const Slots& slots, const float* parameters, int32_t* out) {
    room(attention);
    attention.prepare(parameters);
    for (int block = 0; block < attention.blocks(); block++) {
      const int panels = attention.panels(block);
      attention.forward(block, stream_);
      if (feed_forward_) feed_forward_->forward(parameters, panels, stream_);
      readout_.predict(parameters + shape_.unembed, slots, attention.slot(block), panels, stream_, out);
    }
  }

  void update(float* __restrict__ p, float* __restrict__ m, float* __restrict__ v, float rate, float unbias, float beta1, float beta2,
              float epsilon) {
    const float* __restrict__ g = scratch_;
    for (long i = 0; i < shape_.size; i++) {
      const float x = g[i];
      m[i] += (1.f - beta1) * (x - m[i]);
      v[i] = beta2 * v[i] + (1.f - beta2) * x * x;
      p[i] -= rate * m[i] / (std::sqrt(v[i] * unbias) + epsilon);
    }
  }

  Shape shape_;
  std::vector<int32_t> contexts_;
  std::vector<float> weights_;
  std::vector<int64_t> starts_;
  std::vector<int32_t> tokens_;
  std::vector<float> probabilities_;
  std::vector<int32_t> answers_;
  Table table_;
  Readout readout_;
  Floats scratch_, stream_, d_stream_;
  bool grid_, deep_;
  int panels_ = 0;
  std::unique_ptr<GridAttention> grid_attention_;
  std::unique_ptr<DeepGrid> deep_grid_;
  std::unique_ptr<ListAttention> list_attention_;
  std::unique_ptr<DeepAttention> deep_attention_;
  std::unique_ptr<FeedForward> feed_forward_;
  Slots grid_slots_, list_slots_, batch_slots_;
};

}  // namespace

Engine* open(const Opening& opening) { return new FusedEngine(opening); }

}  // namespace ROTE_ISA
