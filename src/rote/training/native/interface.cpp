// The C interface: opens the widest engine that this processor runs.
#include <initializer_list>
#include <new>

#include "engine.h"

namespace {

bool runs(int lanes) {
#if defined(ROTE_PORTABLE_16)
  if (lanes == 16) return true;
#endif
#if defined(ROTE_PORTABLE_8)
  if (lanes == 8) return true;
#endif
#if defined(__x86_64__) && defined(ROTE_WIDE)
  __builtin_cpu_init();
  if (lanes == 16) return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (lanes == 8) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return lanes == 4;
}

}  // namespace

extern "C" {

int rote_interface() { return 4; }

int rote_lanes() {
  for (int lanes : {16, 8})
    if (runs(lanes)) return lanes;
  return 4;
}

int rote_runs(int lanes) { return runs(lanes); }

// Null when memory runs out or the processor lacks these lanes.
void* rote_open(int lanes, const int32_t* shape, const int32_t* contexts, int64_t count, const float* weights, const int64_t* starts,
                const int32_t* tokens, const float* probabilities, const int32_t* answers, int layout) {
  if (!runs(lanes)) return nullptr;
  Opening opening{shape, contexts, count, weights, starts, tokens, probabilities, answers, layout};
  try {
#if defined(__x86_64__) && defined(ROTE_WIDE)
    if (lanes == 16) return lanes16::open(opening);
    if (lanes == 8) return lanes8::open(opening);
#endif
    return lanes4::open(opening);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void rote_close(void* engine) { delete static_cast<Engine*>(engine); }

// Each returns a negative number when memory runs out.
int rote_gradient(void* engine, const float* parameters, float* gradient, const int32_t* rows, int batch, float focus,
                  double* out) {
  try {
    static_cast<Engine*>(engine)->gradient(parameters, gradient, rows, batch, focus, out);
    return 0;
  } catch (const std::bad_alloc&) {
    return -1;
  }
}

int64_t rote_adam(void* engine, float* parameters, float* first, float* second, int64_t before, int64_t steps, const float* rates,
                  const float* focus, double beta1, double beta2, double epsilon, const int32_t* rows, int batch, float* losses, float* shares) {
  try {
    return static_cast<Engine*>(engine)->adam(parameters, first, second, before, steps, rates, focus, beta1, beta2, epsilon, rows, batch,
                                              losses, shares);
  } catch (const std::bad_alloc&) {
    return -1;
  }
}

int rote_predict(void* engine, const float* parameters, int32_t* out) {
  try {
    static_cast<Engine*>(engine)->predict(parameters, out);
    return 0;
  } catch (const std::bad_alloc&) {
    return -1;
  }
}
}
