// Compiled once for each instruction set into namespace CGPO_ISA (cmake/Modules.cmake, cgpo_vector_sources).
//
// Bits. Every output of a product with W is one chain of fused multiply-adds over the inner index, in order, whatever
// tile it falls in; so a sample's value depends neither on its place in the batch nor on the vector width. Sums over
// samples run in 64-byte virtual lanes (16 floats, 8 doubles) that are added up by one fixed tree. AVX2 and AVX-512
// therefore agree to the last bit, and so does baseline, which has no fused instruction and computes what it gives.
//
// Only integers and this file's own types are used here: an inline function shared with other files might be emitted
// with this file's instructions and then be picked by the linker for a CPU that lacks them.
#include "cgpo/nn/dense_kernels.hpp"

#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "cgpo/math/elementary.hpp"

#define CGPO_INLINE inline __attribute__((always_inline))
#define CGPO_UNROLL _Pragma("GCC unroll 16")

namespace cgpo::dense::CGPO_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kNativeBytes = 64;
#elif defined(__AVX2__)
constexpr int kNativeBytes = 32;
#else
constexpr int kNativeBytes = 16;
#endif
#if defined(__SANITIZE_ADDRESS__)  // with its checks, unrolled tiles take minutes to compile
constexpr int kRowTile = 2, kColumnTile = 1;
constexpr int kOuterRows = 2, kOuterColumns = 2;
#elif defined(__AVX512F__)  // 32 registers: 24 accumulators
constexpr int kRowTile = 8, kColumnTile = 3;
constexpr int kOuterRows = 4, kOuterColumns = 4;
#elif defined(__AVX2__)     // 16 registers: 12 accumulators
constexpr int kRowTile = 6, kColumnTile = 2;
constexpr int kOuterRows = 2, kOuterColumns = 3;
#else
constexpr int kRowTile = 4, kColumnTile = 2;
constexpr int kOuterRows = 1, kOuterColumns = 2;
#endif
constexpr int kParts = 64 / kNativeBytes;  // native vectors in a virtual one
constexpr int kPanelInputs = 128;          // rows of X copied at a time: with kColumnTile vectors they stay in L1
constexpr int kChunk = 512;                // samples summed in Real before they are added to a double

template <class Real>
struct VectorOf {
  typedef Real type __attribute__((vector_size(kNativeBytes)));
};
template <class Real>
using Vector = typename VectorOf<Real>::type;
template <class Real>
constexpr int kLanes = kNativeBytes / static_cast<int>(sizeof(Real));

template <class Real>
CGPO_INLINE Vector<Real> load(const Real* from) {
  Vector<Real> v;
  __builtin_memcpy(&v, from, sizeof(v));
  return v;
}
template <class Real>
CGPO_INLINE void store(Real* to, Vector<Real> v) {
  __builtin_memcpy(to, &v, sizeof(v));
}
template <class Real>
CGPO_INLINE Vector<Real> broadcast(Real value) {
  return value - Vector<Real>{};  // x - 0 is x, also for -0
}

// a b + c, rounded once
CGPO_INLINE Vector<float> fused(Vector<float> a, Vector<float> b, Vector<float> c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__AVX2__)
  return _mm256_fmadd_ps(a, b, c);
#else
  for (int l = 0; l < kLanes<float>; ++l) c[l] = elementary::primitive::fma(a[l], b[l], c[l]);
  return c;
#endif
}
CGPO_INLINE Vector<double> fused(Vector<double> a, Vector<double> b, Vector<double> c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_pd(a, b, c);
#elif defined(__AVX2__)
  return _mm256_fmadd_pd(a, b, c);
#else
  for (int l = 0; l < kLanes<double>; ++l) c[l] = elementary::primitive::fma(a[l], b[l], c[l]);
  return c;
#endif
}

CGPO_INLINE constexpr int smaller(int a, int b) { return a < b ? a : b; }

// ---- Y = W X + b -------------------------------------------------------------------------------------------------

enum class Start { kZero, kBias, kAdd };  // what a chain begins with: 0, b, or what Y holds

// R rows of Y, C vectors wide. The panel is X's columns, packed: [inputs][C] vectors. The weight of row r and input k
// is weight[r stride + k], or weight[k stride + r] for the transposed product.
template <class Real, int R, int C, bool kTransposed>
void whole_tile(const Real* weight, std::ptrdiff_t weight_stride, const Real* bias, const Real* panel, Real* y,
                std::ptrdiff_t y_stride, int inputs, Start start) {
  constexpr int kWidth = C * kLanes<Real>;
  Vector<Real> sum[R][C];
  CGPO_UNROLL for (int r = 0; r < R; ++r) {
    CGPO_UNROLL for (int c = 0; c < C; ++c) {
      if (start == Start::kAdd) {
        sum[r][c] = load<Real>(y + r * y_stride + c * kLanes<Real>);
      } else {
        sum[r][c] = start == Start::kBias ? broadcast(bias[r]) : Vector<Real>{};
      }
    }
  }
  for (int k = 0; k < inputs; ++k) {
    Vector<Real> x[C];
    CGPO_UNROLL for (int c = 0; c < C; ++c) x[c] = load<Real>(panel + k * kWidth + c * kLanes<Real>);
    CGPO_UNROLL for (int r = 0; r < R; ++r) {
      const Vector<Real> w = broadcast(kTransposed ? weight[k * weight_stride + r] : weight[r * weight_stride + k]);
      CGPO_UNROLL for (int c = 0; c < C; ++c) sum[r][c] = fused(w, x[c], sum[r][c]);
    }
  }
  CGPO_UNROLL for (int r = 0; r < R; ++r) {
    CGPO_UNROLL for (int c = 0; c < C; ++c) store<Real>(y + r * y_stride + c * kLanes<Real>, sum[r][c]);
  }
}

template <class Real, int R, int C, bool kTransposed>
CGPO_INLINE void affine_tile(const Real* weight, std::ptrdiff_t weight_stride, const Real* bias, const Real* panel,
                             Real* y, std::ptrdiff_t y_stride, int inputs, int columns, Start start) {
  constexpr int kWidth = C * kLanes<Real>;
  if (columns < kWidth) {  // the same into a tile of its own, of which Y takes what it has room for
    Real edge[R * kWidth];
    for (int r = 0; r < R; ++r) {
      for (int j = 0; j < kWidth; ++j) {
        edge[r * kWidth + j] = start == Start::kAdd && j < columns ? y[r * y_stride + j] : Real(0);
      }
    }
    whole_tile<Real, R, C, kTransposed>(weight, weight_stride, bias, panel, edge, kWidth, inputs, start);
    for (int r = 0; r < R; ++r) {
      for (int j = 0; j < columns; ++j) y[r * y_stride + j] = edge[r * kWidth + j];
    }
  } else {
    whole_tile<Real, R, C, kTransposed>(weight, weight_stride, bias, panel, y, y_stride, inputs, start);
  }
}

// The last rows, fewer than a tile: finds the R that was left over.
template <class Real, int R, int C, bool kTransposed>
void affine_rest(int rows, const Real* weight, std::ptrdiff_t weight_stride, const Real* bias, const Real* panel,
                 Real* y, std::ptrdiff_t y_stride, int inputs, int columns, Start start) {
  if constexpr (R > 0) {
    if (rows == R) {
      affine_tile<Real, R, C, kTransposed>(weight, weight_stride, bias, panel, y, y_stride, inputs, columns, start);
    } else {
      affine_rest<Real, R - 1, C, kTransposed>(rows, weight, weight_stride, bias, panel, y, y_stride, inputs, columns,
                                               start);
    }
  }
}

// Copies `inputs` rows of `columns` columns side by side; missing columns are 0. Rows of a batch often lie a power of
// two apart and would fall into the same few cache sets; in the panel they do not.
template <class Real, int C>
void pack_panel(const Real* x, std::ptrdiff_t x_stride, int inputs, int columns, Real* panel) {
  constexpr int kWidth = C * kLanes<Real>;
  for (int k = 0; k < inputs; ++k) {
    const Real* from = x + k * x_stride;
    Real* to = panel + k * kWidth;
    if (columns == kWidth) {
      CGPO_UNROLL for (int c = 0; c < C; ++c) {
        store<Real>(to + c * kLanes<Real>, load<Real>(from + c * kLanes<Real>));
      }
    } else {
      for (int j = 0; j < kWidth; ++j) to[j] = j < columns ? from[j] : Real(0);
    }
  }
}

// All rows of Y at `columns` columns, at most C vectors of them.
template <class Real, int C, bool kTransposed>
void column_product(const Real* weight, std::ptrdiff_t weight_stride, const Real* bias, const Real* x,
                    std::ptrdiff_t x_stride, Real* y, std::ptrdiff_t y_stride, int outputs, int inputs, int columns,
                    Start start) {
  alignas(64) Real panel[kPanelInputs * C * kLanes<Real>];
  int k = 0;
  do {  // at least once: with no inputs Y is still b
    const int depth = smaller(kPanelInputs, inputs - k);
    const Start begin = k == 0 ? start : Start::kAdd;
    pack_panel<Real, C>(x + k * x_stride, x_stride, depth, columns, panel);
    const Real* w = weight + k * (kTransposed ? weight_stride : 1);
    const auto bias_of = [&](int r) { return begin == Start::kBias ? bias + r : nullptr; };
    int row = 0;
    for (; row + kRowTile <= outputs; row += kRowTile) {
      affine_tile<Real, kRowTile, C, kTransposed>(w + row * (kTransposed ? 1 : weight_stride), weight_stride,
                                                  bias_of(row), panel, y + row * y_stride, y_stride, depth, columns,
                                                  begin);
    }
    affine_rest<Real, kRowTile - 1, C, kTransposed>(outputs - row, w + row * (kTransposed ? 1 : weight_stride),
                                                    weight_stride, bias_of(row), panel, y + row * y_stride, y_stride,
                                                    depth, columns, begin);
    k += depth;
  } while (k < inputs);
}

template <class Real, bool kTransposed>
void product(const Real* weight, std::ptrdiff_t weight_stride, const Real* bias, Rows<const Real> x, Rows<Real> y,
             int outputs, int inputs, int samples, Start start) {
  const auto at = [&]<int C>(int column, int columns) {
    column_product<Real, C, kTransposed>(weight, weight_stride, bias, x.data + column, x.stride, y.data + column,
                                         y.stride, outputs, inputs, columns, start);
  };
  constexpr int kWidth = kColumnTile * kLanes<Real>;
  int column = 0;
  for (; column + kWidth <= samples; column += kWidth) at.template operator()<kColumnTile>(column, kWidth);
  // What is left in as few vectors as hold it: a block of 32 environments is two of AVX-512's.
  const int rest = samples - column;
  if (rest > 2 * kLanes<Real>) {
    at.template operator()<kColumnTile>(column, rest);
  } else if (rest > kLanes<Real>) {
    at.template operator()<smaller(2, kColumnTile)>(column, rest);
  } else if (rest > 0) {
    at.template operator()<1>(column, rest);
  }
}

template <class Real>
void affine(const Real* weight, std::ptrdiff_t weight_stride, const Real* bias, Rows<const Real> x, Rows<Real> y,
            int outputs, int inputs, int samples) {
  product<Real, false>(weight, weight_stride, bias, x, y, outputs, inputs, samples,
                       bias != nullptr ? Start::kBias : Start::kZero);
}

template <class Real>
void affine_transposed(const Real* weight, std::ptrdiff_t weight_stride, Rows<const Real> dy, Rows<Real> dx,
                       int outputs, int inputs, int samples, bool add) {
  product<Real, true>(weight, weight_stride, nullptr, dy, dx, inputs, outputs, samples,
                      add ? Start::kAdd : Start::kZero);
}

// ---- dW += dY X', db += dY 1 -------------------------------------------------------------------------------------

// 64 bytes of one row: kParts native vectors.
template <class Real>
struct Pack {
  Vector<Real> part[kParts];
};
template <class Real>
constexpr int kPackLanes = kParts* kLanes<Real>;

template <class Real>
CGPO_INLINE Pack<Real> load_pack(const Real* from) {
  Pack<Real> pack;
  CGPO_UNROLL for (int p = 0; p < kParts; ++p) pack.part[p] = load<Real>(from + p * kLanes<Real>);
  return pack;
}

// Lane l of the result adds two lanes that are D apart: of a where bit D of l is 0, of b where it is 1.
template <int D, class V, std::size_t... kLane>
CGPO_INLINE V merge(V a, V b, std::index_sequence<kLane...>) {
  constexpr int n = sizeof...(kLane);
  constexpr auto low = [](int l) { return (l & D) == 0 ? l : n + l - D; };
  constexpr auto high = [](int l) { return (l & D) == 0 ? l + D : n + l; };
  return __builtin_shufflevector(a, b, low(kLane)...) + __builtin_shufflevector(a, b, high(kLane)...);
}

// v[0] becomes the vector whose lane l is the sum over the lanes of v[l].
template <class Real, int D>
CGPO_INLINE void sum_lanes(Vector<Real>* v) {
  if constexpr (D > 0) {
    CGPO_UNROLL for (int j = 0; j < D; ++j) {
      v[j] = merge<D>(v[j], v[j + D], std::make_index_sequence<kLanes<Real>>{});
    }
    sum_lanes<Real, D / 2>(v);
  }
}

// sums[n] = all lanes of packs[n], by the tree l + (l + half) on every level.
template <class Real, int N>
CGPO_INLINE void sum_packs(const Pack<Real>* packs, Real* sums) {
  constexpr int lanes = kLanes<Real>;
  CGPO_UNROLL for (int first = 0; first < N; first += lanes) {
    Vector<Real> v[lanes];
    CGPO_UNROLL for (int l = 0; l < lanes; ++l) {
      if (first + l < N) {
        Pack<Real> pack = packs[first + l];
        CGPO_UNROLL for (int half = kParts / 2; half > 0; half /= 2) {
          CGPO_UNROLL for (int p = 0; p < half; ++p) pack.part[p] += pack.part[p + half];
        }
        v[l] = pack.part[0];
      } else {
        v[l] = Vector<Real>{};
      }
    }
    sum_lanes<Real, lanes / 2>(v);
    CGPO_UNROLL for (int l = 0; l < lanes; ++l) {
      if (first + l < N) sums[first + l] = v[0][l];
    }
  }
}

template <class Real>
CGPO_INLINE Pack<Real> load_part(const Real* from, int count) {
  Real padded[kPackLanes<Real>];
  for (int j = 0; j < kPackLanes<Real>; ++j) padded[j] = j < count ? from[j] : Real(0);
  return load_pack<Real>(padded);
}

// sums[o][i] = row o of dY times row i of X over at most kChunk samples.
template <class Real, int O, int I>
CGPO_INLINE void outer_tile(const Real* dy, std::ptrdiff_t dy_stride, const Real* x, std::ptrdiff_t x_stride,
                            int samples, Real* sums) {
  Pack<Real> sum[O * I] = {};
  const auto add = [&](auto&& read) __attribute__((always_inline)) {
    CGPO_UNROLL for (int p = 0; p < kParts; ++p) {  // part by part: fewer registers are live
      Vector<Real> right[I];
      CGPO_UNROLL for (int i = 0; i < I; ++i) right[i] = read(x + i * x_stride, p);
      CGPO_UNROLL for (int o = 0; o < O; ++o) {
        const Vector<Real> left = read(dy + o * dy_stride, p);
        CGPO_UNROLL for (int i = 0; i < I; ++i) sum[o * I + i].part[p] = fused(left, right[i], sum[o * I + i].part[p]);
      }
    }
  };
  int s = 0;
  for (; s + kPackLanes<Real> <= samples; s += kPackLanes<Real>) {
    add([s](const Real* row, int p) __attribute__((always_inline)) { return load<Real>(row + s + p * kLanes<Real>); });
  }
  if (s < samples) {
    add([s, samples](const Real* row, int p) { return load_part<Real>(row + s, samples - s).part[p]; });
  }
  sum_packs<Real, O * I>(sum, sums);
}

template <class Real, int O>
CGPO_INLINE void row_sums_tile(const Real* dy, std::ptrdiff_t stride, int samples, Real* sums) {
  Pack<Real> sum[O] = {};
  int s = 0;
  for (; s + kPackLanes<Real> <= samples; s += kPackLanes<Real>) {
    CGPO_UNROLL for (int o = 0; o < O; ++o) {
      const Pack<Real> value = load_pack<Real>(dy + o * stride + s);
      CGPO_UNROLL for (int p = 0; p < kParts; ++p) sum[o].part[p] += value.part[p];
    }
  }
  if (s < samples) {
    for (int o = 0; o < O; ++o) {
      const Pack<Real> value = load_part<Real>(dy + o * stride + s, samples - s);
      for (int p = 0; p < kParts; ++p) sum[o].part[p] += value.part[p];
    }
  }
  sum_packs<Real, O>(sum, sums);
}

template <class Real, int O, int I>
void outer_block(const Real* dy, std::ptrdiff_t dy_stride, const Real* x, std::ptrdiff_t x_stride, int samples,
                 double* dweight, std::ptrdiff_t inputs) {
  Real sums[O * I];
  outer_tile<Real, O, I>(dy, dy_stride, x, x_stride, samples, sums);
  for (int o = 0; o < O; ++o) {
    for (int i = 0; i < I; ++i) dweight[o * inputs + i] += static_cast<double>(sums[o * I + i]);
  }
}

// The last rows of X, fewer than a tile.
template <class Real, int O, int I>
void outer_rest(int rows, const Real* dy, std::ptrdiff_t dy_stride, const Real* x, std::ptrdiff_t x_stride, int samples,
                double* dweight, std::ptrdiff_t inputs) {
  if constexpr (I > 0) {
    if (rows == I) {
      outer_block<Real, O, I>(dy, dy_stride, x, x_stride, samples, dweight, inputs);
    } else {
      outer_rest<Real, O, I - 1>(rows, dy, dy_stride, x, x_stride, samples, dweight, inputs);
    }
  }
}

// O rows of dY against all rows of X.
template <class Real, int O>
void outer_strip(const Real* dy, std::ptrdiff_t dy_stride, Rows<const Real> x, int inputs, int samples, double* dweight,
                 double* dbias) {
  int i = 0;
  for (; i + kOuterColumns <= inputs; i += kOuterColumns) {
    outer_block<Real, O, kOuterColumns>(dy, dy_stride, x.data + i * x.stride, x.stride, samples, dweight + i, inputs);
  }
  outer_rest<Real, O, kOuterColumns - 1>(inputs - i, dy, dy_stride, x.data + i * x.stride, x.stride, samples,
                                         dweight + i, inputs);
  if (dbias != nullptr) {
    Real sums[O];
    row_sums_tile<Real, O>(dy, dy_stride, samples, sums);
    for (int o = 0; o < O; ++o) dbias[o] += static_cast<double>(sums[o]);
  }
}

template <class Real>
void outer_accumulate(Rows<const Real> dy, Rows<const Real> x, double* dweight, double* dbias, int outputs, int inputs,
                      int samples) {
  for (int begin = 0; begin < samples; begin += kChunk) {
    const int count = smaller(kChunk, samples - begin);
    const Rows<const Real> columns{x.data + begin, x.stride};
    int o = 0;
    const auto strip = [&](auto rows) {
      constexpr int O = decltype(rows)::value;
      for (; o + O <= outputs; o += O) {
        outer_strip<Real, O>(dy.data + o * dy.stride + begin, dy.stride, columns, inputs, count,
                             dweight + static_cast<std::ptrdiff_t>(o) * inputs, dbias == nullptr ? nullptr : dbias + o);
      }
    };
    strip(std::integral_constant<int, kOuterRows>{});
    strip(std::integral_constant<int, 1>{});
  }
}

// ---- element by element ------------------------------------------------------------------------------------------

template <class Real>
void tanh_rows(Rows<Real> h, int rows, int samples) {
  for (int r = 0; r < rows; ++r) {
    Real* row = h.data + r * h.stride;
    for (int j = 0; j < samples; ++j) row[j] = elementary::tanh<Real>(row[j]);
  }
}

template <class Real>
void tanh_adjoint(Rows<const Real> h, Rows<Real> d, int rows, int samples) {
  for (int r = 0; r < rows; ++r) {
    const Real* value = h.data + r * h.stride;
    Real* adjoint = d.data + r * d.stride;
    for (int j = 0; j < samples; ++j) adjoint[j] *= Real(1) - value[j] * value[j];
  }
}

template <class Real>
void gather(const Real* table, std::ptrdiff_t width, const std::uint32_t* index, Rows<Real> x, int features,
            int samples) {
  constexpr int kAhead = 24;  // samples whose cache lines are on their way
  for (int j = 0; j < samples; ++j) {
    const char* ahead = reinterpret_cast<const char*>(table + index[smaller(j + kAhead, samples - 1)] * width);
    for (std::ptrdiff_t byte = 0; byte < width * static_cast<int>(sizeof(Real)); byte += 64) {
      __builtin_prefetch(ahead + byte);
    }
    const Real* from = table + index[j] * width;
    Real* to = x.data + j;
    for (int f = 0; f < features; ++f, to += x.stride) *to = from[f];
  }
}

// No fused operations, and square root and division are exact to the last bit: the same bits with every instruction
// set.
template <class Real>
void adam(AdamStep<Real> step, const double* __restrict gradient, Real* __restrict m, Real* __restrict v,
          Real* __restrict parameters, std::ptrdiff_t count) {
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const Real g = static_cast<Real>(gradient[i]);
    m[i] = step.beta1 * m[i] + (Real(1) - step.beta1) * g;
    v[i] = step.beta2 * v[i] + (Real(1) - step.beta2) * (g * g);
    const Real root = sizeof(Real) == 4 ? static_cast<Real>(__builtin_sqrtf(static_cast<float>(v[i])))
                                        : static_cast<Real>(__builtin_sqrt(static_cast<double>(v[i])));
    parameters[i] -= step.rate * m[i] / (root * step.root + step.epsilon);
  }
}

template <class Real>
constexpr Kernels<Real> kTable{affine<Real>,    affine_transposed<Real>, outer_accumulate<Real>,
                               tanh_rows<Real>, tanh_adjoint<Real>,      gather<Real>,
                               adam<Real>};

}  // namespace

extern const Kernels<float> kFloatKernels = kTable<float>;
extern const Kernels<double> kDoubleKernels = kTable<double>;

}  // namespace cgpo::dense::CGPO_ISA
