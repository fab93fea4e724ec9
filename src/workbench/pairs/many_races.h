// Which of many races count, when looking at many makes some of them win by chance.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace teapot::workbench {

// Holm's step-down method over p values (of an e-value: min(1, 1/E)): at most alpha chance of any false one. Indices, ascending.
std::vector<size_t> holm(std::span<const double> p_values, double alpha);

// e-BH (Wang & Ramdas, "False discovery rate control with e-values", arXiv 2009.02824): the k largest with E >= M / (k alpha), a share of
// at most alpha false ones on average, under any dependence. E is that at which its own race stopped, never the largest that it has been.
// Indices, ascending.
std::vector<size_t> e_bh(std::span<const double> e_values, double alpha);

}  // namespace teapot::workbench
