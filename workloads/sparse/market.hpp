// Reads a matrix in the Matrix Market exchange format (Boisvert, Pozo and Remington, NISTIR 5935, 1996): square, coordinate; real, integer
// or pattern; general, symmetric or skew-symmetric.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "firstlight/line_reader.hpp"

namespace sparse {

// Rows one after the other, columns ascending.
struct Entries {
  bool symmetric = false;
  std::vector<fl::Index> start;  // of row i, and the end of the last
  std::vector<int> column;
  std::vector<double> value;
};

inline constexpr fl::Index most_rows = 1 << 24;
inline constexpr double largest_value = 1e100;  // sums of them are finite, and so are their products with elements of x

class MarketReader {
 public:
  explicit MarketReader(std::string_view text) : file_(text, " \t\r") {}

  // Fills `entries`; returns what is wrong and in which line, empty where nothing is.
  std::string read(Entries& entries) {
    fl::Index count = 0;
    if (std::string wrong = read_banner(); !wrong.empty()) return wrong;
    if (std::string wrong = read_size(count); !wrong.empty()) return wrong;
    for (fl::Index k = 0; k < count; ++k) {
      if (!next_line_with_words()) return here(fl::text("entry %lld of %lld is missing", k + 1, count));
      if (std::string wrong = read_entry(); !wrong.empty()) return wrong;
    }
    if (next_line_with_words()) return here(fl::text("more than the %lld entries of the line of sizes", count));
    return sorted(entries);
  }

 private:
  enum class Symmetry { general, symmetric, skew };
  struct Entry {
    fl::Index row, column;
    double value;
    fl::Index line;
  };

  std::string here(const std::string& what) const { return fl::text("%lld: ", file_.number()) + what; }

  // Comments may be above the sizes, blank lines anywhere below the banner.
  bool next_line_with_words() {
    while (file_.next_line())
      if (!file_.rest().starts_with('%') && !file_.blank()) return true;
    return false;
  }
  std::string lower_word() {
    std::string found(file_.word());
    for (char& c : found)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return found;
  }
  template <class Number>
  bool parse_next(Number& value) {
    return fl::parse_number(file_.word(), value);
  }

  std::string read_banner() {
    if (!file_.next_line() || file_.word() != "%%MatrixMarket") return here("the file should begin with %%MatrixMarket");
    const std::string object = lower_word(), format = lower_word(), field = lower_word(), symmetry = lower_word();
    if (object != "matrix" || format != "coordinate") return here("only \"matrix coordinate\" is read: a list of entries");
    if (field != "real" && field != "integer" && field != "pattern")
      return here("values are \"" + fl::printable(field) + "\"; real, integer and pattern are read");
    if (symmetry != "general" && symmetry != "symmetric" && symmetry != "skew-symmetric")
      return here("the matrix is \"" + fl::printable(symmetry) + "\"; general, symmetric and skew-symmetric are read");
    pattern_ = field == "pattern";
    symmetry_ = symmetry == "general" ? Symmetry::general : symmetry == "symmetric" ? Symmetry::symmetric : Symmetry::skew;
    return "";
  }

  std::string read_size(fl::Index& count) {
    fl::Index columns = 0;
    if (!next_line_with_words() || !parse_next(rows_) || !parse_next(columns) || !parse_next(count) || !file_.blank())
      return here("expected the numbers of rows, columns and entries");
    if (rows_ != columns) return here(fl::text("%lld rows and %lld columns; square matrices are read", rows_, columns));
    if (rows_ < 1 || rows_ > most_rows) return here(fl::text("%lld rows; 1 to %lld are read", rows_, most_rows));
    if (count < 0) return here("the number of entries is negative");
    return "";
  }

  std::string read_entry() {
    Entry e{0, 0, 1, file_.number()};
    for (fl::Index* at : {&e.row, &e.column}) {
      const std::string_view found = file_.word();
      if (!fl::parse_number(found, *at) || *at < 1 || *at > rows_)
        return here("\"" + fl::printable(found) + fl::text("\" should be a row or column, 1 to %lld", rows_));
      --*at;
    }
    if (!pattern_) {
      const std::string_view found = file_.word();
      if (!fl::parse_number(found, e.value) || !(std::fabs(e.value) <= largest_value))
        return here("\"" + fl::printable(found) + fl::text("\" should be a value, at most %g", largest_value));
    }
    if (!file_.blank()) return here("more than an entry");
    if (symmetry_ != Symmetry::general && e.column > e.row) return here("above the diagonal of a matrix that its header calls symmetric");
    if (symmetry_ == Symmetry::skew && e.column == e.row) return here("on the diagonal of a skew-symmetric matrix");
    all_.push_back(e);
    if (symmetry_ != Symmetry::general && e.column != e.row)
      all_.push_back({e.column, e.row, symmetry_ == Symmetry::skew ? -e.value : e.value, e.line});
    return "";
  }

  std::string sorted(Entries& entries) {
    const auto place = [](const Entry& e) { return std::tuple(e.row, e.column, e.line); };
    std::sort(all_.begin(), all_.end(), [&](const Entry& a, const Entry& b) { return place(a) < place(b); });
    for (std::size_t k = 1; k < all_.size(); ++k)
      if (all_[k].row == all_[k - 1].row && all_[k].column == all_[k - 1].column)
        return fl::text("%lld: the entry of line %lld once more", all_[k].line, all_[k - 1].line);
    entries.symmetric = symmetry_ == Symmetry::symmetric;
    entries.start.assign(static_cast<std::size_t>(rows_) + 1, 0);
    for (const Entry& e : all_) {
      ++entries.start[static_cast<std::size_t>(e.row) + 1];
      entries.column.push_back(static_cast<int>(e.column));
      entries.value.push_back(e.value);
    }
    for (std::size_t i = 1; i < entries.start.size(); ++i) entries.start[i] += entries.start[i - 1];
    return "";
  }

  fl::LineReader file_;
  fl::Index rows_ = 0;
  bool pattern_ = false;
  Symmetry symmetry_ = Symmetry::general;
  std::vector<Entry> all_;
};

}  // namespace sparse
