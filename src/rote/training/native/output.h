// What a head writes into the stream: its output matrix (dim x head_dim), behind the shared decompression if there is one.
#pragma once
#include "shape.h"
#include "simd.h"

namespace ROTE_ISA {

class EffectiveOutput {
 public:
  explicit EffectiveOutput(const Shape& s) : s_(s), gradient(static_cast<long>(s.heads) * s.dim * s.head_dim) {
    if (s.compressed) folded_.resize(static_cast<long>(s.heads) * s.dim * s.head_dim);
  }

  void forward(const float* parameters) {
    const float* O = parameters + s_.layers[0].output;
    if (!s_.compressed) {
      matrix = O;
      return;
    }
    const float* D = parameters + s_.layers[0].decompress;
    const int d = s_.dim, k = s_.head_dim, inner = s_.inner;
    folded_.zero();
    for (int h = 0; h < s_.heads; h++)
      for (int x = 0; x < d; x++) {
        float* to = folded_ + (static_cast<long>(h) * d + x) * k;
        for (int y = 0; y < inner; y++) {
          const float* from = O + (static_cast<long>(h) * inner + y) * k;
          float weight = D[x * inner + y];
          for (int c = 0; c < k; c++) to[c] += weight * from[c];
        }
      }
    matrix = folded_;
  }

  // From `gradient` to the gradients of output and decompression.
  void backward(const float* parameters, float* g) const {
    const int d = s_.dim, k = s_.head_dim, inner = s_.inner;
    if (!s_.compressed) {
      std::memcpy(g + s_.layers[0].output, static_cast<const float*>(gradient), sizeof(float) * s_.heads * d * k);
      return;
    }
    const float *O = parameters + s_.layers[0].output, *D = parameters + s_.layers[0].decompress;
    float *gO = g + s_.layers[0].output, *gD = g + s_.layers[0].decompress;
    std::memset(gO, 0, sizeof(float) * s_.heads * inner * k);
    std::memset(gD, 0, sizeof(float) * d * inner);
    for (int h = 0; h < s_.heads; h++)
      for (int x = 0; x < d; x++) {
        const float* from = gradient + (static_cast<long>(h) * d + x) * k;
        for (int y = 0; y < inner; y++) {
          const float* o = O + (static_cast<long>(h) * inner + y) * k;
          float* go = gO + (static_cast<long>(h) * inner + y) * k;
          float total = 0, weight = D[x * inner + y];
          for (int c = 0; c < k; c++) {
            total += from[c] * o[c];
            go[c] += weight * from[c];
          }
          gD[x * inner + y] += total;
        }
      }
  }

  const float* matrix = nullptr;  // heads x dim x head_dim

 private:
  const Shape& s_;
  Floats folded_;

 public:
  Floats gradient;
};

}  // namespace ROTE_ISA
