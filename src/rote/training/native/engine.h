// What every instruction set's engine offers to the C interface.
#pragma once
#include <cstdint>

class Engine {
 public:
  virtual ~Engine() = default;
  // Cross-entropy, share of right predictions, and the value under `focus` whose gradient is given. Rows: null for all.
  virtual void gradient(const float* parameters, float* gradient, const int32_t* rows, int batch, float focus, double* out) = 0;
  // Steps taken: fewer than asked when a loss is not a finite number.
  virtual int64_t adam(float* parameters, float* first, float* second, int64_t before, int64_t steps, const float* rates,
                       const float* focus, double beta1, double beta2, double epsilon, const int32_t* rows, int batch, float* losses,
                       float* shares) = 0;
  virtual void predict(const float* parameters, int32_t* out) = 0;
};

struct Opening {
  const int32_t* shape;
  const int32_t* contexts;
  int64_t count;
  const float* weights;
  const int64_t* starts;
  const int32_t* tokens;
  const float* probabilities;
  const int32_t* answers;
  int layout;  // 0: by what is cheaper, 1: grid of pairs, 2: list
};

namespace lanes4 { Engine* open(const Opening&); }
namespace lanes8 { Engine* open(const Opening&); }
namespace lanes16 { Engine* open(const Opening&); }
