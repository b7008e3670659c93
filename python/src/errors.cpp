// What the libraries throw, as exceptions of Python.
#include <array>
#include <filesystem>
#include <regex>
#include <string>
#include <utility>
#include <vector>

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

// Failures of Python that are on their way through the libraries, which know of their sentences alone. The GIL guards
// them; the list outlives Python, so it holds no nb::object.
std::vector<std::pair<std::string, PyObject*>> kept_causes;
constexpr std::size_t kMostCauses = 64;

// That of a sentence, which is the caller's from here on, or null; the others are forgotten.
PyObject* take_cause(const std::string& sentence) {
  PyObject* found = nullptr;
  for (const auto& [part, cause] : std::exchange(kept_causes, {})) {
    if (found == nullptr && sentence.find(part) != std::string::npos) {
      found = cause;
    } else {
      Py_DECREF(cause);
    }
  }
  return found;
}

void raise(const std::string& sentence, PyObject* cause = nullptr) {
  const nb::object error = nb::module_::import_("cgpo._errors").attr("Error")(sentence.c_str());
  if (cause != nullptr) PyException_SetCause(error.ptr(), cause);  // which it takes
  PyErr_SetObject(error.type().ptr(), error.ptr());
}

}  // namespace

void keep_cause(const std::string& sentence, const nb::python_error& failure) {
  if (kept_causes.size() >= kMostCauses) return;
  PyObject* const cause = nb::borrow(failure.value()).release().ptr();
  if (failure.traceback().is_valid()) PyException_SetTraceback(cause, failure.traceback().ptr());
  kept_causes.emplace_back(sentence, cause);
}

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const UserError& error) {
      raise(in_python(error.what()), take_cause(error.what()));
    } catch (const std::filesystem::filesystem_error& error) {
      // A disk that fails in the middle of a folder's list, say.
      raise("cannot use '" + error.path1().string() + "': " + error.code().message());
    } catch (const std::logic_error& fault) {
      PyErr_SetString(PyExc_RuntimeError, (std::string("internal error: ") + fault.what()).c_str());
    }
  });
}

}  // namespace cgpo::python
