// Vectors of ROTE_LANES floats, by the compiler's vector extensions: one source for every instruction set.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

#define ROTE_INLINE inline __attribute__((always_inline))

namespace ROTE_ISA {

constexpr int W = ROTE_LANES;
typedef float V __attribute__((vector_size(4 * ROTE_LANES), may_alias));
typedef int32_t I __attribute__((vector_size(4 * ROTE_LANES), may_alias));

ROTE_INLINE V load(const float* p) { return *reinterpret_cast<const V*>(p); }
ROTE_INLINE void store(float* p, V v) { *reinterpret_cast<V*>(p) = v; }
ROTE_INLINE V splat(float x) { return V{} + x; }
ROTE_INLINE V larger(V a, V b) { return a > b ? a : b; }

// By halves: a chain of one addition per lane would be several times slower.
template <int LANES>
ROTE_INLINE float sum_halves(const float* p) {
  if constexpr (LANES == 1) {
    return p[0];
  } else {
    constexpr int HALF = LANES / 2;
    typedef float Half __attribute__((vector_size(4 * HALF), aligned(4), may_alias));
    Half sum = *reinterpret_cast<const Half*>(p) + *reinterpret_cast<const Half*>(p + HALF);
    return sum_halves<HALF>(reinterpret_cast<const float*>(&sum));
  }
}
ROTE_INLINE float sum_lanes(V a) { return sum_halves<W>(reinterpret_cast<const float*>(&a)); }

ROTE_INLINE V reciprocal(V a) {
#if ROTE_LANES == 16 && defined(__AVX512F__)
  V x = (V)_mm512_rcp14_ps((__m512)a);
  return x * (2.f - a * x);
#elif ROTE_LANES == 8 && defined(__AVX2__)
  V x = (V)_mm256_rcp_ps((__m256)a);
  return x * (2.f - a * x);
#else
  return 1.f / a;
#endif
}

// e^x to about two units in the last place; arguments outside [-87, 88] are brought inside.
ROTE_INLINE V exponential(V x) {
  x = larger(x, splat(-87.f));
  x = x < 88.f ? x : splat(88.f);
  const V magic = splat(12582912.f);  // 1.5 * 2^23: adding it rounds to an integer held in the low bits
  V t = x * 1.44269504f + magic;
  V n = t - magic;
  V r = x - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  V p = splat(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + (r + 1.f);
  return (V)((I)p + (((I)t) << 23));
}

// ln x for normal x > 0.
ROTE_INLINE V logarithm(V x) {
  I bits = (I)x;
  I exponent = ((bits - 0x3f3504f3) >> 23);  // mantissa in [sqrt(1/2), sqrt(2))
  V m = (V)(bits - (exponent << 23)) - 1.f;
  V e = __builtin_convertvector(exponent, V);
  V p = splat(7.0376836292e-2f);
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  V square = m * m;
  V y = p * m * square - 0.5f * square;
  return m + y + e * 0.693147181f;
}

// Probabilities that underflow make a step many times slower; they are worth nothing, so flush them for its duration.
class FlushToZero {
 public:
#if defined(__x86_64__) || defined(__i386__)
  FlushToZero() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040u); }
  ~FlushToZero() { _mm_setcsr(saved_); }
 private:
  unsigned saved_;
#elif defined(__aarch64__)
  FlushToZero() {
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    asm volatile("msr fpcr, %0" ::"r"(saved_ | (1ull << 24)));
  }
  ~FlushToZero() { asm volatile("msr fpcr, %0" ::"r"(saved_)); }
 private:
  uint64_t saved_;
#else
  FlushToZero() {}
#endif
};

// Zeroed, aligned floats.
class Floats {
 public:
  Floats() = default;
  explicit Floats(long size) { resize(size); }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  ~Floats() { std::free(data_); }
  void resize(long size) {
    std::free(data_);
    size_ = size;
    size_t bytes = (static_cast<size_t>(size) * 4 + 127) / 64 * 64;
    data_ = static_cast<float*>(std::aligned_alloc(64, bytes));
    if (!data_) throw std::bad_alloc();
    std::memset(data_, 0, bytes);
  }
  void zero() { std::memset(data_, 0, static_cast<size_t>(size_) * 4); }
  operator float*() { return data_; }
  operator const float*() const { return data_; }
  long size() const { return size_; }

 private:
  float* data_ = nullptr;
  long size_ = 0;
};

}  // namespace ROTE_ISA
