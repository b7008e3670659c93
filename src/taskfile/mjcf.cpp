#include "cgpo/taskfile/mjcf.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"

namespace cgpo {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kXmlBlanks = " \t\r\n";
constexpr int kMostIncludes = 200;  // files that include each other go on for ever
constexpr std::size_t kLargestMjcf = 8U << 20U;

struct TagAttribute {
  std::string_view name;
  std::size_t begin = 0;  // of the value
  std::size_t end = 0;
};

// An element's tag, < to behind >.
struct Tag {
  std::string_view element;  // "/body" of a closing tag
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<TagAttribute> attributes;

  const TagAttribute* find(std::string_view name) const {
    const auto found =
        std::find_if(attributes.begin(), attributes.end(), [name](const TagAttribute& a) { return a.name == name; });
    return found == attributes.end() ? nullptr : &*found;
  }
};

// All tags of a text that is XML; of one that is not, those up to where that shows, which MuJoCo refuses.
std::vector<Tag> find_tags(std::string_view xml) {
  std::vector<Tag> tags;
  std::size_t at = 0;
  const auto behind = [&](std::string_view end) {
    const std::size_t found = xml.find(end, at);
    return found == std::string_view::npos ? xml.size() : found + end.size();
  };
  const auto skip_blanks = [&] { at = std::min(xml.find_first_not_of(kXmlBlanks, at), xml.size()); };
  const auto word = [&](std::size_t begin) {
    at = std::min(xml.find_first_of(" \t\r\n=<>\"'", begin), xml.size());
    return xml.substr(begin, at - begin);
  };
  while ((at = xml.find('<', at)) != std::string_view::npos) {
    const std::string_view rest = xml.substr(at);
    if (rest.starts_with("<!--")) {
      at = behind("-->");
      continue;
    }
    if (rest.starts_with("<?") || rest.starts_with("<!")) {
      at = behind(">");
      continue;
    }
    Tag tag;
    tag.begin = at;
    tag.element = word(at + 1);
    if (tag.element.size() > 1 && tag.element.back() == '/') tag.element.remove_suffix(1);
    for (;;) {
      skip_blanks();
      if (at >= xml.size()) return tags;
      if (xml[at] == '>') break;
      const std::size_t name_at = at;
      const std::string_view name = word(at);
      skip_blanks();
      if (at < xml.size() && xml[at] == '=') {
        ++at;
        skip_blanks();
        const std::size_t close =
            at < xml.size() && (xml[at] == '"' || xml[at] == '\'') ? xml.find(xml[at], at + 1) : std::string_view::npos;
        if (close == std::string_view::npos) return tags;
        tag.attributes.push_back({name, at + 1, close});
        at = close + 1;
      } else if (at <= name_at) {
        return tags;  // a character that no tag has here
      }
    }
    tag.end = ++at;
    tags.push_back(std::move(tag));
  }
  return tags;
}

// What stands inside the root element; of a text without one, nothing.
std::string inside_of_root(const std::string& xml) {
  const std::vector<Tag> tags = find_tags(xml);
  if (tags.size() < 2) return "";
  return xml.substr(tags.front().end, tags.back().begin - tags.front().end);
}

class Including {
 public:
  explicit Including(fs::path folder) : folder_(std::move(folder)) {}

  // MuJoCo looks for all of them beside the first file.
  std::string expand(const std::string& xml) {
    std::string result;
    std::size_t done = 0;
    for (const Tag& tag : find_tags(xml)) {
      if (tag.begin < done) continue;
      if (tag.element == "/include") {  // what it closes has been replaced
        result.append(xml, done, tag.begin - done);
        done = tag.end;
      }
      if (tag.element != "include") continue;
      const TagAttribute* const file = tag.find("file");
      if (file == nullptr) continue;
      if (++count_ > kMostIncludes) throw UserError("'{}': files include each other without end", folder_.string());
      result.append(xml, done, tag.begin - done);
      result += expand(inside_of_root(read_file(folder_ / xml.substr(file->begin, file->end - file->begin))));
      if (result.size() > kLargestMjcf) throw UserError("'{}': a robot has at most 8 MiB of MJCF", folder_.string());
      done = tag.end;
    }
    return result + xml.substr(done);
  }

 private:
  fs::path folder_;
  int count_ = 0;
};

// Which attribute of <compiler> says where an element's file is.
const std::map<std::string_view, std::string_view>& folders_by_element() {
  static const std::map<std::string_view, std::string_view> folders = {
      {"mesh", "meshdir"}, {"hfield", "meshdir"}, {"skin", "meshdir"}, {"texture", "texturedir"}};
  return folders;
}

// Files are named by whole paths, which no <compiler> changes.
WholeMjcf with_whole_paths(const std::string& xml, const fs::path& folder) {
  const std::vector<Tag> tags = find_tags(xml);
  const auto value = [&](const TagAttribute& attribute) {
    return xml.substr(attribute.begin, attribute.end - attribute.begin);
  };
  std::map<std::string_view, std::string> folders;
  for (const Tag& tag : tags) {
    if (tag.element != "compiler") continue;
    for (const std::string_view name : {"meshdir", "texturedir"}) {
      if (const TagAttribute* const both = tag.find("assetdir")) folders[name] = value(*both);
      if (const TagAttribute* const own = tag.find(name)) folders[name] = value(*own);
    }
  }
  WholeMjcf whole;
  std::size_t done = 0;
  for (const Tag& tag : tags) {
    const auto kind = folders_by_element().find(tag.element);
    if (kind == folders_by_element().end()) continue;
    for (const TagAttribute& attribute : tag.attributes) {
      if (!attribute.name.starts_with("file") || attribute.begin == attribute.end) continue;  // fileright and the like
      const fs::path path = fs::absolute(folder / folders[kind->second] / value(attribute)).lexically_normal();
      whole.text.append(xml, done, attribute.begin - done);
      whole.text += path.string();
      done = attribute.end;
      whole.files.push_back(path.string());
    }
  }
  whole.text.append(xml, done);
  return whole;
}

}  // namespace

WholeMjcf read_whole_mjcf(const fs::path& path) {
  std::error_code ignored;
  if (fs::exists(path, ignored) && fs::is_other(path, ignored)) throw UserError("'{}' is not a file", path.string());
  const fs::path folder = path.parent_path();
  const std::string xml = read_file(path);
  if (xml.size() > kLargestMjcf) throw UserError("'{}': a robot has at most 8 MiB of MJCF", path.string());
  return with_whole_paths(Including(folder).expand(xml), folder);
}

}  // namespace cgpo
