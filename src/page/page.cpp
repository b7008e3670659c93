#include "cgpo/page/page.hpp"

#include "cgpo/base/error.hpp"
#include "cgpo/page/texts.hpp"

namespace cgpo {
namespace {

std::string escape_html(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  }
  return result;
}

// In JSON the sign < stands only inside strings, where \u003c means the same.
std::string escape_json(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

std::string script(std::string_view text) {
  check(text.find("</script") == std::string_view::npos, "a script does not end its own element");
  std::string result = "<script>\n";
  result.append(text).append("\n</script>\n");
  return result;
}

// Our own files share one scope that nobody else sees.
std::string own_script() {
  std::string text = "(() => {\n'use strict';\n";
  for (const std::string_view name : page_scripts()) text.append(page_text(name)).append("\n");
  text += "})();";
  return text;
}

}  // namespace

std::string make_page(std::string_view title, std::string_view json, bool with_robot) {
  std::string libraries = script(page_text("chart.js"));
  if (with_robot) {
    libraries += script(page_text("three.js"));
    libraries += script(page_text("orbit.js"));
  }
  // The template names its parts as {{NAME}}; parts are put in as they are and never searched themselves.
  std::string page;
  std::string_view rest = page_text("page.html");
  while (true) {
    const std::size_t begin = rest.find("{{");
    page.append(rest.substr(0, begin));
    if (begin == std::string_view::npos) return page;
    const std::size_t end = rest.find("}}", begin);
    const std::string_view name = rest.substr(begin + 2, end - begin - 2);
    if (name == "title") {
      page += escape_html(title);
    } else if (name == "style") {
      page.append(page_text("style.css"));
    } else if (name == "libraries") {
      page += libraries;
    } else if (name == "data") {
      page += escape_json(json);
    } else {
      check(name == "script", "the page's template names only parts that there are");
      page += script(own_script());
    }
    rest.remove_prefix(end + 2);
  }
}

}  // namespace cgpo
