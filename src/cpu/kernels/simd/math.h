// exp, sigmoid and silu of a register, for the vector tables.
#pragma once

namespace teapot::cpu {
namespace {

// e^x within 2 units in the last place; 0 below the subnormals, infinity above the largest float, NaN for NaN.
// x = n ln 2 + r with |r| <= ln 2 / 2, where the series up to r^7 is exact to 1e-8.
template <class V>
typename V::Type exp_of(typename V::Type x) {
  constexpr float kLog2E = 1.44269504f;
  constexpr float kLn2High = 0.693359375f;  // 10 bits: n * high is exact
  constexpr float kLn2Low = -2.12194440e-4f;
  const auto bounded = V::max(V::set(-104.0f), V::min(V::set(89.0f), x));  // order of arguments: NaN stays
  const auto n = V::round(V::mul(bounded, V::set(kLog2E)));
  const auto r = V::fnma(n, V::set(kLn2Low), V::fnma(n, V::set(kLn2High), bounded));
  auto p = V::set(1.0f / 5040);
  p = V::fma(p, r, V::set(1.0f / 720));
  p = V::fma(p, r, V::set(1.0f / 120));
  p = V::fma(p, r, V::set(1.0f / 24));
  p = V::fma(p, r, V::set(1.0f / 6));
  p = V::fma(p, r, V::set(1.0f / 2));
  p = V::fma(p, r, V::set(1.0f));
  p = V::fma(p, r, V::set(1.0f));
  return V::times_power(p, n);
}

// 1 + e^-x
template <class V>
typename V::Type one_plus_exp_minus(typename V::Type x) {
  return V::add(V::set(1.0f), exp_of<V>(V::sub(V::zero(), x)));
}

template <class V>
typename V::Type sigmoid_of(typename V::Type x) {
  return V::div(V::set(1.0f), one_plus_exp_minus<V>(x));
}

template <class V>
typename V::Type silu_of(typename V::Type x) {
  return V::div(x, one_plus_exp_minus<V>(x));
}

}  // namespace
}  // namespace teapot::cpu
