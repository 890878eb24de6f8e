// Models of several layers over a list of contexts of any length, one context per lane.
#pragma once
#include <memory>
#include <vector>

#include "deep_layer.h"
#include "readout.h"

namespace ROTE_ISA {

class DeepAttention {
 public:
  explicit DeepAttention(const Shape& s) : s_(s) {
    // As many contexts at once as keep a layer's queries, keys and values near: weights are read once a block.
    const long per_panel = static_cast<long>(s.context) * (s.heads * (2l * s.rank + 2l * s.head_dim) + 2l * s.width) * W;
    block_ = static_cast<int>(65536 / (per_panel + 1));
    block_ = block_ < 1 ? 1 : (block_ > 12 ? 12 : block_);
    if (block_ > 3) block_ -= block_ % 3;
    for (size_t l = 0; l < s.layers.size(); l++)
      layers_.push_back(std::make_unique<DeepLayer>(s, s.layers[l], block_, l + 1 == s.layers.size()));
    const long size = static_cast<long>(block_) * s.context * s.dim * W;
    stream_.resize(size), next_.resize(size), d_embedded_.resize(static_cast<long>(s.vocab) * s.dim);
  }

  void contexts(const Table& table, const Slots& slots) { table_ = &table, slots_ = &slots; }
  int blocks() const { return static_cast<int>((slots_->context.size() / W + block_ - 1) / block_); }
  int most_panels() const { return block_; }
  int panels(int block) const {
    const long left = static_cast<long>(slots_->context.size()) / W - static_cast<long>(block) * block_;
    return static_cast<int>(left < block_ ? left : block_);
  }
  long slot(int block) const { return static_cast<long>(block) * block_ * W; }

  void prepare(const float* parameters) {
    parameters_ = parameters;
    for (auto& layer : layers_) layer->prepare(parameters);
  }
  void start_backward() {
    d_embedded_.zero();
    for (auto& layer : layers_) layer->start_backward();
  }

  // Blocks at the end are filled up with token 0, whose gradient is then nought.
  void forward(int block, float* R) {
    const int d = s_.dim, S = s_.context;
    const float* E = parameters_ + s_.tokens;
    for (int p = 0; p < block_; p++)
      for (int l = 0; l < W; l++) {
        const int32_t* tokens = tokens_of(block, p, l);
        for (int s = 0; s < S; s++) {
          const float* from = E + (tokens ? static_cast<long>(tokens[s]) : 0) * d;
          float* to = stream_ + static_cast<long>(s * block_ + p) * d * W + l;
          for (int x = 0; x < d; x++) to[x * W] = from[x];
        }
      }
    for (auto& layer : layers_) {
      layer->forward(parameters_, stream_, next_);
      std::memcpy(stream_, next_, sizeof(float) * layer->asked() * d * W);
    }
    std::memcpy(R, stream_, sizeof(float) * panels(block) * d * W);
  }

  void backward(int block, float* dR) {
    const int d = s_.dim, S = s_.context;
    next_.zero();
    std::memcpy(next_, dR, sizeof(float) * panels(block) * d * W);
    for (size_t l = layers_.size(); l-- > 0;) {
      layers_[l]->backward(parameters_, next_, stream_);
      std::memcpy(next_, stream_, sizeof(float) * stream_.size());
    }
    for (int p = 0; p < block_; p++)
      for (int l = 0; l < W; l++)
        if (const int32_t* tokens = tokens_of(block, p, l))
          for (int s = 0; s < S; s++) {
            float* to = d_embedded_ + static_cast<long>(tokens[s]) * d;
            const float* from = stream_ + static_cast<long>(s * block_ + p) * d * W + l;
            for (int x = 0; x < d; x++) to[x] += from[x * W];
          }
  }

  void finish(const float*, float* g) {
    std::memcpy(g + s_.tokens, static_cast<const float*>(d_embedded_), sizeof(float) * d_embedded_.size());
    for (auto& layer : layers_) layer->finish(g);
  }

 private:
  const int32_t* tokens_of(int block, int panel, int lane) const {
    const size_t at = static_cast<size_t>(slot(block)) + static_cast<size_t>(panel) * W + lane;
    if (at >= slots_->context.size() || slots_->context[at] < 0) return nullptr;
    return table_->contexts + static_cast<long>(slots_->context[at]) * s_.context;
  }

  const Shape& s_;
  int block_;
  std::vector<std::unique_ptr<DeepLayer>> layers_;
  const Table* table_ = nullptr;
  const Slots* slots_ = nullptr;
  const float* parameters_ = nullptr;
  Floats stream_, next_, d_embedded_;
};

}  // namespace ROTE_ISA
