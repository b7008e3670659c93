// What a check of derivatives comes to, in words and in JSON.
#include <fmt/format.h>

#include "cgpo/studies/derivative_check.hpp"

namespace cgpo {

std::string describe(const DerivativeCheck& check, const std::string& task) {
  const auto of_windows = [&](int count) {
    return count == check.states ? fmt::format("{} windows", count)
                                 : fmt::format("{} of {} windows", count, check.states);
  };
  std::string text;
  if (check.not_finite > 0) {
    text = fmt::format("{}: derivatives CANNOT BE CHECKED in {} of {} steps: {} is not finite there\n", task,
                       of_windows(check.not_finite), check.window, check.not_finite_what);
  } else if (check.agrees()) {
    text =
        fmt::format("{}: derivatives and central differences agree on {} of {} steps; largest relative error {:.2e}\n",
                    task, of_windows(check.states), check.window, check.max_relative_error);
  } else {
    text = fmt::format(
        "{}: derivatives and central differences DO NOT agree on {} of {} steps; largest relative error {:.2e}, of "
        "{}\n",
        task, of_windows(check.disagreeing), check.window, check.max_relative_error, check.largest_at);
  }
  if (check.kinks > 0) {
    text += fmt::format(
        "{} begin at a kink, where there is more than one derivative, as where flat faces touch: they differ by "
        "up to {:.2e}, of {}, and agree from states nearby\n",
        of_windows(check.kinks), check.kink_error, check.kink_at);
  }
  return text;
}

Json to_json(const DerivativeCheck& check, const std::string& task) {
  Json result;
  result["task"] = task;
  result["agrees"] = check.agrees();
  result["max_relative_error"] = check.max_relative_error;
  result["largest_at"] = check.largest_at;
  result["states"] = check.states;
  result["window"] = check.window;
  result["disagreeing"] = check.disagreeing;
  result["kinks"] = check.kinks;
  result["kink_error"] = check.kink_error;
  result["kink_at"] = check.kink_at;
  result["not_finite"] = check.not_finite;
  result["not_finite_what"] = check.not_finite_what;
  return result;
}

}  // namespace cgpo
