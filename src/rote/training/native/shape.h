// Sizes of a model and where its tensors lie in the vector of parameters (the order of Spec.shapes()).
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

namespace ROTE_ISA {

// Offsets of one layer's tensors; -1 where a layer has none. All layers share one compression, and maybe one table of
// positions: the first sets their gradients, the others add.
struct Layer {
  long compress = -1, positions = -1, decompress = -1, query = -1, key = -1, value = -1, output = -1;
  long mlp_in = -1, mlp_bias = -1, mlp_out = -1;
};

struct Shape {
  int vocab, context, dim, rank, head_dim, heads, width;  // width: neurons of an MLP, 0 for none
  bool compressed, scaled, gelu;
  bool one_table;  // whether all layers read one table of positions
  bool carried;  // whether positions are added to the stream, so that the skip connection carries them on; else heads alone read them
  int inner;  // what heads read and write: dim, or head_dim behind a shared compression
  float scale;
  long tokens, unembed, size;
  std::vector<Layer> layers;

  explicit Shape(const int32_t* n)
      : vocab(n[0]), context(n[1]), dim(n[2]), rank(n[3]), head_dim(n[4]), heads(n[5]), width(n[6]),
        compressed(n[7] != 0), scaled(n[8] != 0), gelu(n[9] != 0), layers(n[10]) {
    const bool every_layer = n[11] == 1;
    one_table = n[11] == 2;
    carried = !compressed && !one_table;
    inner = compressed ? head_dim : dim;
    scale = scaled ? 1.f / std::sqrt(static_cast<float>(head_dim)) : 1.f;
    long at = 0;
    auto take = [&at](long count) { long here = at; at += count; return here; };
    const long d = dim, H = heads, w = width, S = context;
    tokens = take(vocab * d);
    if (carried) layers[0].positions = take(S * d);
    if (one_table) {
      const long table = take(S * inner);
      for (Layer& layer : layers) layer.positions = table;
    }
    for (size_t l = 0; l < layers.size(); l++) {
      Layer& layer = layers[l];
      if (compressed) {
        layer.compress = l == 0 ? take(inner * d) : layers[0].compress;
        if (!one_table) layer.positions = take(S * inner);
        layer.decompress = l == 0 ? take(d * inner) : layers[0].decompress;
      } else if (every_layer && l > 0) {
        layer.positions = take(S * d);
      }
      layer.query = take(H * rank * inner);
      layer.key = take(H * rank * inner);
      layer.value = take(H * head_dim * inner);
      layer.output = take(H * inner * head_dim);
    }
    if (w > 0)
      for (Layer& layer : layers) {
        layer.mlp_in = take(w * d);
        layer.mlp_bias = take(w);
        layer.mlp_out = take(d * w);
      }
    unembed = take(vocab * d);
    size = at;
  }
};

}  // namespace ROTE_ISA
