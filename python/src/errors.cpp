// What the libraries throw, as exceptions of Python.
#include <array>
#include <filesystem>
#include <regex>
#include <string>
#include <utility>

#include "cgpo/base/error.hpp"

#include "bindings.hpp"

namespace cgpo::python {
namespace {

// Sentences name flags of the command line; in Python these are arguments.
std::string in_python(std::string text) {
  static const std::array<std::pair<std::regex, const char*>, 2> kSpellings = {{
      {std::regex("--(resume|force|deterministic|explain)\\b(?!-)"), "$1=True"},
      {std::regex("--(out|init|seed|preset|algo|episodes|threads|checkpoint|engine|substeps|to|name)\\b(?!-)"), "$1"},
  }};
  for (const auto& [flag, argument] : kSpellings) text = std::regex_replace(text, flag, argument);
  for (const auto& [flag, argument] :
       {std::pair{"--allow-command", "allow_command=True"}, std::pair{"--allow-unsupported", "allow_unsupported=True"},
        std::pair{"--set", "settings"}}) {
    for (std::size_t at = 0; (at = text.find(flag, at)) != std::string::npos;)
      text.replace(at, std::string(flag).size(), argument);
  }
  return text;
}

void raise(const std::string& sentence) {
  PyErr_SetString(nb::module_::import_("cgpo._errors").attr("Error").ptr(), sentence.c_str());
}

}  // namespace

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const UserError& error) {
      raise(in_python(error.what()));
    } catch (const std::filesystem::filesystem_error& error) {
      // A disk that fails in the middle of a folder's list, say.
      raise("cannot use '" + error.path1().string() + "': " + error.code().message());
    } catch (const std::logic_error& fault) {
      PyErr_SetString(PyExc_RuntimeError, (std::string("internal error: ") + fault.what()).c_str());
    }
  });
}

}  // namespace cgpo::python
