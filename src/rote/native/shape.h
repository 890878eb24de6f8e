// Sizes of a one-layer model and where its tensors lie in the vector of parameters (the order of Spec.shapes()).
#pragma once
#include <cmath>
#include <cstdint>

struct Shape {
  int vocab, context, dim, rank, head_dim, heads, width;  // width: neurons of the MLP, or -1 for none
  bool compressed, scaled, gelu;
  int inner;
  float scale;
  long tokens, positions, compress, decompress, query, key, value, output, mlp_in, mlp_bias, mlp_out, unembed, size;

  explicit Shape(const int32_t* n)
      : vocab(n[0]), context(n[1]), dim(n[2]), rank(n[3]), head_dim(n[4]), heads(n[5]), width(n[6]),
        compressed(n[7] != 0), scaled(n[8] != 0), gelu(n[9] != 0) {
    inner = compressed ? head_dim : dim;
    scale = scaled ? 1.f / std::sqrt(static_cast<float>(head_dim)) : 1.f;
    long at = 0;
    auto take = [&at](long count) { long here = at; at += count; return here; };
    const long d = dim, H = heads;
    tokens = take(vocab * d);
    compress = decompress = 0;
    if (compressed) compress = take(inner * d);
    positions = take(static_cast<long>(context) * inner);
    if (compressed) decompress = take(d * inner);
    query = take(H * rank * inner);
    key = take(H * rank * inner);
    value = take(H * head_dim * inner);
    output = take(H * inner * head_dim);
    const long w = width > 0 ? width : 0;
    mlp_in = take(w * d);
    mlp_bias = take(w);
    mlp_out = take(d * w);
    unembed = take(vocab * d);
    size = at;
  }
};
