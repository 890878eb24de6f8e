// Three small matrix products on vectors. A matrix is a pointer and strides in floats; a row of it is made of vectors.
//
//   multiply       C(m, v) = sum_k a(m, k) B(k, v)     a scalars, B and C vectors
//   multiply_each  C(m, n) = sum_k A(m, k) B(n, k)     all vectors: one product per lane
//   contract       c(m, n) = sum_v A(m, v) B(n, v)     and over lanes: c scalars, or one partial sum per lane
//
// Each works on register tiles; remainders are spread over tiles of nearly equal size.
#pragma once
#include "simd.h"

namespace ROTE_ISA {

constexpr int ACCUMULATORS = W == 16 ? 24 : 12;  // of 32 or 16 registers
constexpr int WIDEST = W == 16 ? 4 : 3;

// Call f with a compile-time count for each of nearly equal parts of `total`, none above MOST.
template <int MOST, class F>
ROTE_INLINE void with_count(int count, F&& f) {
  if constexpr (MOST > 0) {
    if (count == MOST)
      f(std::integral_constant<int, MOST>());
    else
      with_count<MOST - 1>(count, f);
  }
}

template <int MOST, class F>
ROTE_INLINE void in_tiles(int total, F&& f) {
  int tiles = (total + MOST - 1) / MOST, start = 0;
  for (int t = tiles; t > 0; t--) {
    int count = (total - start + t - 1) / t;
    with_count<MOST>(count, [&](auto constant) { f(start, constant); });
    start += count;
  }
}

struct Scalars {
  const float* p;
  long row, column;
};
struct Rows {  // vectors: element (r, v) at p + r * row + v * panel
  float* p;
  long row, panel;
};

template <int MT, int NT, bool ADD>
ROTE_INLINE void multiply_tile(int K, const float* a, long ar, long ac, const float* b, long br, long bp, float* c,
                               long cr, long cp) {
  V sum[MT][NT];
#pragma GCC unroll 24
  for (int m = 0; m < MT; m++)
#pragma GCC unroll 4
    for (int n = 0; n < NT; n++) sum[m][n] = ADD ? load(c + m * cr + n * cp) : V{};
  for (int k = 0; k < K; k++) {
    V row[NT];
#pragma GCC unroll 4
    for (int n = 0; n < NT; n++) row[n] = load(b + k * br + n * bp);
#pragma GCC unroll 24
    for (int m = 0; m < MT; m++) {
      V x = splat(a[m * ar + k * ac]);
#pragma GCC unroll 4
      for (int n = 0; n < NT; n++) sum[m][n] += x * row[n];
    }
  }
#pragma GCC unroll 24
  for (int m = 0; m < MT; m++)
#pragma GCC unroll 4
    for (int n = 0; n < NT; n++) store(c + m * cr + n * cp, sum[m][n]);
}

template <bool ADD>
void multiply(int M, int K, int panels, Scalars a, Rows b, Rows c) {
  int v = 0;
  while (v < panels) {
    int left = panels - v;
    // Four panels of two are better than three and one.
    int wide = left <= WIDEST ? left : (left == WIDEST + 1 ? (WIDEST + 2) / 2 : WIDEST);
    with_count<WIDEST>(wide, [&](auto nt) {
      constexpr int NT = decltype(nt)::value;
      in_tiles<ACCUMULATORS / NT>(M, [&](int m, auto mt) {
        multiply_tile<decltype(mt)::value, NT, ADD>(K, a.p + m * a.row, a.row, a.column, b.p + v * b.panel, b.row,
                                                    b.panel, c.p + m * c.row + v * c.panel, c.row, c.panel);
      });
    });
    v += wide;
  }
}

struct Each {  // vectors: element (m, k) of panel v at p + m * row + k * column + v * panel
  float* p;
  long row, column, panel;
};

enum class Into { set, add, subtract };

template <int MT, int NT, Into HOW>
ROTE_INLINE void each_tile(int K, const float* a, long ar, long ac, const float* b, long br, long bc, float* c,
                           long cr, long cc) {
  V sum[MT][NT];
#pragma GCC unroll 6
  for (int m = 0; m < MT; m++)
#pragma GCC unroll 6
    for (int n = 0; n < NT; n++) sum[m][n] = HOW == Into::set ? V{} : load(c + m * cr + n * cc);
  for (int k = 0; k < K; k++) {
    V row[NT];
#pragma GCC unroll 6
    for (int n = 0; n < NT; n++) row[n] = load(b + n * br + k * bc);
#pragma GCC unroll 6
    for (int m = 0; m < MT; m++) {
      V x = load(a + m * ar + k * ac);
#pragma GCC unroll 6
      for (int n = 0; n < NT; n++) {
        if constexpr (HOW == Into::subtract)
          sum[m][n] -= x * row[n];
        else
          sum[m][n] += x * row[n];
      }
    }
  }
#pragma GCC unroll 6
  for (int m = 0; m < MT; m++)
#pragma GCC unroll 6
    for (int n = 0; n < NT; n++) store(c + m * cr + n * cc, sum[m][n]);
}

template <Into HOW>
void multiply_each(int M, int N, int K, int panels, Each a, Each b, Each c) {
  constexpr int MT = 4, NT = ACCUMULATORS / 4;
  for (int v = 0; v < panels; v++)
    in_tiles<MT>(M, [&](int m, auto mt) {
      in_tiles<NT>(N, [&](int n, auto nt) {
        each_tile<decltype(mt)::value, decltype(nt)::value, HOW>(
            K, a.p + m * a.row + v * a.panel, a.row, a.column, b.p + n * b.row + v * b.panel, b.row, b.column,
            c.p + m * c.row + n * c.column + v * c.panel, c.row, c.column);
      });
    });
}

enum class Sums { partial, set, add };  // add to one partial sum per lane, or sum the lanes and store or add

template <int MT, int NT, Sums HOW>
ROTE_INLINE void contract_tile(int panels, const float* a, long ar, long ap, const float* b, long br, long bp, float* c,
                               long cr, long cc) {
  V sum[MT][NT];
#pragma GCC unroll 6
  for (int m = 0; m < MT; m++)
#pragma GCC unroll 6
    for (int n = 0; n < NT; n++) sum[m][n] = HOW == Sums::partial ? load(c + m * cr + n * cc) : V{};
  for (int v = 0; v < panels; v++) {
    V row[NT];
#pragma GCC unroll 6
    for (int n = 0; n < NT; n++) row[n] = load(b + n * br + v * bp);
#pragma GCC unroll 6
    for (int m = 0; m < MT; m++) {
      V x = load(a + m * ar + v * ap);
#pragma GCC unroll 6
      for (int n = 0; n < NT; n++) sum[m][n] += x * row[n];
    }
  }
#pragma GCC unroll 6
  for (int m = 0; m < MT; m++)
#pragma GCC unroll 6
    for (int n = 0; n < NT; n++) {
      float* to = c + m * cr + n * cc;
      if constexpr (HOW == Sums::partial)
        store(to, sum[m][n]);
      else if constexpr (HOW == Sums::set)
        *to = sum_lanes(sum[m][n]);
      else
        *to += sum_lanes(sum[m][n]);
    }
}

struct Target {
  float* p;
  long row, column;
};

template <Sums HOW>
void contract(int M, int N, int panels, Rows a, Rows b, Target c) {
  constexpr int MT = 4, NT = ACCUMULATORS / 4;
  in_tiles<MT>(M, [&](int m, auto mt) {
    in_tiles<NT>(N, [&](int n, auto nt) {
      contract_tile<decltype(mt)::value, decltype(nt)::value, HOW>(panels, a.p + m * a.row, a.row, a.panel,
                                                                   b.p + n * b.row, b.row, b.panel,
                                                                   c.p + m * c.row + n * c.column, c.row, c.column);
    });
  });
}

}  // namespace ROTE_ISA
