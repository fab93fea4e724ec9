// A matrix as one table, for all its forms.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workbench/bench/matrix.h"

namespace teapot::workbench {

struct MatrixRow {
  const CellResult* cell;
  std::string load;  // "1024/512"
  std::string server;
  bool control = false;
  std::optional<double> ttft_ms, tpot_ms, output_tok_s;  // none: not measured
  std::optional<double> ttft_ratio, tpot_ratio;          // to the control's of the same load and users; none for the control itself
};

inline constexpr std::array<std::string_view, 9> kMatrixHeads = {"load",      "c",       "server",    "succeeded", "TTFT ms",
                                                                 "x control", "TPOT ms", "x control", "tok/s"};
inline constexpr std::string_view kMatrixNote =
    "TTFT and TPOT are means of the replies that succeeded; x control is the server's mean / the control's: below 1 it is faster.";

// Load by load, users by users, the control first and the others in the plan's order.
std::vector<MatrixRow> matrix_rows(const Matrix& matrix);

// A row's text under kMatrixHeads.
std::array<std::string, kMatrixHeads.size()> matrix_fields(const MatrixRow& row);

// What keeps cells from being whole, one line each.
std::vector<std::string> matrix_faults(const std::vector<MatrixRow>& rows);

// Warnings of the cells' runs; one that several have stands once, with their number.
std::vector<std::string> matrix_warnings(const std::vector<MatrixRow>& rows);

}  // namespace teapot::workbench
