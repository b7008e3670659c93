// Attributes in which MuJoCo's compiler takes a NaN for "not given", or fails of it with a message about something
// else: what it compiled does not show them, so they are looked for where they are written, in the file and in all that
// it includes.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <string_view>
#include <vector>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/physics/mujoco/handle.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBlanks = " \t\r\n";
struct Optional {
  std::string_view element;  // empty: any
  std::string_view attribute;
};
constexpr auto kOptional = std::to_array<Optional>({{"", "mass"},
                                                    {"", "density"},
                                                    {"", "fromto"},
                                                    {"", "euler"},
                                                    {"", "axisangle"},
                                                    {"", "xyaxes"},
                                                    {"", "zaxis"},
                                                    {"", "fullinertia"},
                                                    {"", "pos"},
                                                    {"", "quat"},
                                                    {"pair", "friction"},
                                                    {"pair", "margin"},
                                                    {"pair", "gap"},
                                                    {"pair", "solref"},
                                                    {"pair", "solimp"},
                                                    {"compiler", "boundmass"},
                                                    {"compiler", "boundinertia"},
                                                    {"compiler", "settotalmass"},
                                                    // whatever is not positive
                                                    {"muscle", "range"},
                                                    {"muscle", "lengthrange"},
                                                    {"muscle", "timeconst"},
                                                    {"muscle", "force"},
                                                    {"muscle", "scale"},
                                                    {"muscle", "lmin"},
                                                    {"muscle", "lmax"},
                                                    {"muscle", "vmax"},
                                                    {"muscle", "fpmax"},
                                                    {"muscle", "fvmax"}});

struct Attribute {
  std::string_view element;
  std::string_view element_name;
  std::string_view name;
  std::string_view value;
  std::size_t at;  // in the text
};

// All attributes of a text that is XML; of one that is not, those up to where that shows, which the compiler refuses.
class AttributeReader {
 public:
  explicit AttributeReader(std::string_view xml) : xml_(xml) {}

  std::vector<Attribute> read() {
    while ((at_ = xml_.find('<', at_)) != std::string_view::npos) {
      // Neither comments nor literal text are elements, whatever stands in them.
      if (skip("<!--", "-->") || skip("<![CDATA[", "]]>") || skip("<?", "?>") || skip("<!", ">")) continue;
      ++at_;
      read_element();
    }
    return std::move(found_);
  }

 private:
  bool skip(std::string_view begin, std::string_view end) {
    if (!xml_.substr(at_).starts_with(begin)) return false;
    const std::size_t last = xml_.find(end, at_ + begin.size());
    at_ = last == std::string_view::npos ? xml_.size() : last + end.size();
    return true;
  }

  void read_element() {
    const std::string_view element = word();
    const std::size_t first = found_.size();
    read_attributes(element);
    for (std::size_t i = first; i < found_.size(); ++i) {
      if (found_[i].name != "name") continue;
      for (std::size_t k = first; k < found_.size(); ++k) found_[k].element_name = found_[i].value;
    }
  }

  void read_attributes(std::string_view element) {
    for (;;) {
      skip_blanks();
      if (at_ >= xml_.size() || xml_[at_] == '>' || xml_[at_] == '<') return;
      const std::size_t begin = at_;
      const std::string_view name = word();
      skip_blanks();
      if (name.empty() || at_ >= xml_.size() || xml_[at_] != '=') {
        at_ = std::max(at_, begin + 1);  // the slash of an element that is empty
        continue;
      }
      ++at_;
      skip_blanks();
      if (at_ >= xml_.size() || (xml_[at_] != '"' && xml_[at_] != '\'')) return;
      const std::size_t close = xml_.find(xml_[at_], at_ + 1);
      if (close == std::string_view::npos) return;
      found_.push_back({element, "", name, xml_.substr(at_ + 1, close - at_ - 1), begin});
      at_ = close + 1;
    }
  }

  std::string_view word() {
    const std::size_t end = std::min(xml_.find_first_of(" \t\r\n=/<>\"'", at_), xml_.size());
    const std::string_view result = xml_.substr(at_, end - at_);
    at_ = end;
    return result;
  }

  void skip_blanks() { at_ = std::min(xml_.find_first_not_of(kBlanks, at_), xml_.size()); }

  std::string_view xml_;
  std::size_t at_ = 0;
  std::vector<Attribute> found_;
};

bool is_optional(const Attribute& attribute) {
  return std::any_of(kOptional.begin(), kOptional.end(), [&](const Optional& optional) {
    return attribute.name == optional.attribute && (optional.element.empty() || attribute.element == optional.element);
  });
}

bool has_nan(std::string_view values) {
  const std::string text(values);
  const char* at = text.c_str();
  for (char* end = nullptr;; at = end) {
    const double value = std::strtod(at, &end);
    if (end == at) return false;
    if (std::isnan(value)) return true;
  }
}

// A file and those that it includes or takes parts from, each once. MuJoCo looks for them beside the first file, and
// beside the one that names them.
class WrittenFiles {
 public:
  explicit WrittenFiles(fs::path folder) : folder_(std::move(folder)) {}

  void check(const std::string& xml, const std::string& name) {
    for (const Attribute& attribute : AttributeReader(xml).read()) {
      if ((attribute.element == "include" || attribute.element == "model") && attribute.name == "file") {
        for (const fs::path& folder : {folder_, fs::path(name).parent_path()}) check_other(folder / attribute.value);
      }
      if (!is_optional(attribute) || !has_nan(attribute.value)) continue;
      const auto line = 1 + std::count(xml.begin(), xml.begin() + static_cast<std::ptrdiff_t>(attribute.at), '\n');
      const std::string called =
          attribute.element_name.empty() ? std::string() : fmt::format(" '{}'", attribute.element_name);
      throw UserError("{}: {}{} in line {}: {} is nan, not a finite number", name, attribute.element, called, line,
                      attribute.name);
    }
  }

 private:
  // One that is missing or was included before is the compiler's to refuse.
  void check_other(const fs::path& path) {
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return;
    if (fs::is_other(path, ignored)) throw UserError("'{}' is not a file", path.string());
    if (fs::is_regular_file(path, ignored) && seen_.insert(path.lexically_normal()).second) {
      check(read_file(path), path.string());
    }
  }

  fs::path folder_;
  std::set<fs::path> seen_;
};

}  // namespace

void check_written_numbers(const std::string& xml, const std::string& file) {
  WrittenFiles(fs::path(file).parent_path()).check(xml, file);
}

}  // namespace cgpo
