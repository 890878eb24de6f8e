// Models of several layers over all pairs of tokens: tables carry the first layer, `LaterLayer` the others.
#pragma once
#include <memory>
#include <vector>

#include "grid_attention.h"
#include "later_layer.h"

namespace ROTE_ISA {

class DeepGrid {
 public:
  explicit DeepGrid(const Shape& s) : s_(s), grid_(s, most_at_once(s)), columns_((s.vocab + W - 1) / W) {
    for (size_t l = 1; l < s.layers.size(); l++)
      layers_.push_back(std::make_unique<LaterLayer>(s, s.layers[l], most_panels(), columns_, l + 1 == s.layers.size()));
    if (s.width > 0) {
      neurons_ = std::make_unique<FeedForward>(s, s.layers[0], most_panels());
      first_neurons_ = std::make_unique<FeedForward>(s, s.layers[0], columns_);
    }
    first_.resize(static_cast<long>(columns_) * s.dim * W);
  }

  int blocks() const { return grid_.blocks(); }
  int most_panels() const { return grid_.most_panels(); }
  int panels(int block) const { return grid_.panels(block); }
  long slot(int block) const { return grid_.slot(block); }
  void all_slots(const Table& table, Slots& slots) const { grid_.all_slots(table, slots); }

  void prepare(const float* parameters) {
    parameters_ = parameters;
    grid_.prepare(parameters);
    grid_.first_stream(parameters, first_);
    if (first_neurons_) first_neurons_->forward(parameters, columns_, first_);
    for (auto& layer : layers_) {
      layer->prepare(parameters);
      layer->forward_first(parameters, first_);
    }
  }

  void forward(int block, float* R) {
    grid_.forward(block, R);
    if (neurons_) neurons_->forward(parameters_, panels(block), R);
    for (auto& layer : layers_) layer->forward(parameters_, grid_.first(block), panels(block), R);
  }

  void start_backward() {
    grid_.start_backward();
    if (neurons_) neurons_->start_backward(), first_neurons_->start_backward();
    for (auto& layer : layers_) layer->start_backward();
  }

  void backward(int block, float* dR) {
    for (size_t l = layers_.size(); l-- > 0;) layers_[l]->backward(parameters_, grid_.first(block), panels(block), dR);
    if (neurons_) neurons_->backward(parameters_, panels(block), dR);
    grid_.backward(block, dR);
  }

  void finish(const float* parameters, float* g) {
    first_.zero();
    for (size_t l = layers_.size(); l-- > 0;) layers_[l]->backward_first(parameters, first_);
    if (first_neurons_) first_neurons_->backward(parameters, columns_, first_);
    grid_.first_stream_backward(first_);
    grid_.finish(parameters, g);
    grid_.add_first_stream(first_, g);
    for (auto& layer : layers_) layer->finish(g);
    if (neurons_) neurons_->finish(g), first_neurons_->finish(g, true);
  }

 private:
  // As many first tokens as keep what a layer holds of their pairs near; one at least.
  static int most_at_once(const Shape& s) {
    const long per_panel = (static_cast<long>(s.heads) * (4l * s.rank + 4l * s.head_dim) + 2l * s.width) * W;
    const long panels = (s.vocab + W - 1) / W, most = 65536 / (per_panel * panels + 1);
    return most < 1 ? 1 : static_cast<int>(most);
  }

  const Shape& s_;
  GridAttention grid_;
  int columns_;
  std::vector<std::unique_ptr<LaterLayer>> layers_;
  std::unique_ptr<FeedForward> neurons_, first_neurons_;
  const float* parameters_ = nullptr;
  Floats first_;
};

}  // namespace ROTE_ISA
