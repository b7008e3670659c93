// Independent fused multiply–adds on registers: what the core can do at most. Compiled for each instruction set.
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace cgpo::CGPO_ISA {

// Runs `count` · 12 vector operations on floats; the result keeps the compiler from leaving them out.
float multiply_add(long count);

#if defined(__AVX512F__)
float multiply_add(long count) {
  __m512 sum[12];
  for (int i = 0; i < 12; ++i) sum[i] = _mm512_set1_ps(static_cast<float>(i));
  const __m512 factor = _mm512_set1_ps(0.999F);
  const __m512 addend = _mm512_set1_ps(0.001F);
  for (long n = 0; n < count; ++n) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) sum[i] = _mm512_fmadd_ps(sum[i], factor, addend);
  }
  for (int i = 1; i < 12; ++i) sum[0] = _mm512_add_ps(sum[0], sum[i]);
  return _mm512_cvtss_f32(sum[0]);
}
#elif defined(__AVX2__)
float multiply_add(long count) {
  __m256 sum[12];
  for (int i = 0; i < 12; ++i) sum[i] = _mm256_set1_ps(static_cast<float>(i));
  const __m256 factor = _mm256_set1_ps(0.999F);
  const __m256 addend = _mm256_set1_ps(0.001F);
  for (long n = 0; n < count; ++n) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) sum[i] = _mm256_fmadd_ps(sum[i], factor, addend);
  }
  for (int i = 1; i < 12; ++i) sum[0] = _mm256_add_ps(sum[0], sum[i]);
  return _mm256_cvtss_f32(sum[0]);
}
#else
float multiply_add(long count) {  // no fused instruction here, and no bound that would mean something
  return static_cast<float>(count);
}
#endif

}  // namespace cgpo::CGPO_ISA
