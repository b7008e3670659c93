// An explanation for people, and the same for programs.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "cgpo/judge/explain.hpp"

namespace cgpo {
namespace {

constexpr int kLabel = 26;   // columns of what a line is about
constexpr int kNumber = 15;  // columns of a number

std::string percent(double share) { return std::isnan(share) ? "-" : fmt::format("{:.0f} %", 100.0 * share); }
std::string number(double value) { return std::isnan(value) ? "-" : fmt::format("{:.3g}", value); }

// fmt counts characters, so that non-ASCII labels keep their columns.
template <class Values, class Format>
std::string row(const std::string& label, const Values& values, Format&& format) {
  std::string line = fmt::format("{:<{}}", label, kLabel);
  for (const auto& value : values) line += fmt::format(" {:>{}}", format(value), kNumber);
  return line + "\n";
}

std::string gradients_text(const Diagnosis& diagnosis, const EvaluationReport& evaluation, bool trust_region) {
  if (diagnosis.gradient.empty()) {
    return fmt::format("{}: nothing is said of gradients and critics.\n",
                       evaluation.episodes == 0 ? "No episode is left to take a gradient from"
                                                : "There is no gradient on this engine");
  }
  std::string text = row(fmt::format("gradient, {} episodes", diagnosis.environments), diagnosis.signals,
                         [](const std::string& name) { return name; });
  text += row("  length", diagnosis.gradient, [](const GradientLength& g) { return number(g.norm); });
  text += row("  standard error", diagnosis.gradient, [](const GradientLength& g) { return number(g.error); });
  text +=
      row("  signal to noise", diagnosis.gradient, [](const GradientLength& g) { return number(g.signal_to_noise()); });
  text += row("  signal, in the metric", diagnosis.gradient_signals, percent);
  if (trust_region) text += row(fmt::format("  reach, radius {:.2g}", diagnosis.radius), diagnosis.reach, number);
  if (!diagnosis.critic_explained.empty()) {
    text += row("  critic explains", diagnosis.critic_explained, percent);
    text += row("  its slope's cosine", diagnosis.critic_cosines, number);
  }
  if (diagnosis.windows.empty()) return text;
  text += "length (signal to noise) by window, without critics\n";
  for (const WindowGradients& entry : diagnosis.windows) {
    text += row(fmt::format("  {}{}", entry.window, entry.window == diagnosis.window ? ", the run's" : ""),
                entry.signals, [](const GradientLength& g) {
                  if (!std::isfinite(g.norm)) return std::string("not finite");
                  return fmt::format("{} ({})", number(g.norm),
                                     g.norm > 0.0 ? fmt::format("{:.2g}", g.signal_to_noise()) : "-");
                });
  }
  return text;
}

std::string twin_text(const TwinDiagnosis& twin, const std::vector<std::string>& signals) {
  std::string text = fmt::format("{:<{}} off by {} of the change in a step, {} in a window\n", "twin", kLabel,
                                 percent(twin.error), percent(twin.window_error));
  if (!twin.parameters.empty()) {
    text += fmt::format("{:<{}}", "  fitted", kLabel);
    for (std::size_t i = 0; i < twin.parameters.size(); ++i)
      text += fmt::format("{} {} {}", i == 0 ? "" : ",", twin.parameters[i].first, number(twin.parameters[i].second));
    text += "\n";
  }
  if (twin.cosines.size() != signals.size()) return text;
  return text + row("  its gradient, with scores", twin.cosines, [](const GradientCosine& of) {
           return std::isnan(of.cosine) ? std::string("-") : fmt::format("{:.2f} ± {:.2f}", of.cosine, of.error);
         });
}

std::string history_text(const RunHistory& history) {
  if (history.iterations == 0) return "The run has no log yet.\n";
  std::string text =
      fmt::format("{:<{}}", fmt::format("updates, last {} of {}", history.recent, history.iterations), kLabel);
  if (history.trust_region) {
    text += fmt::format(" radius at its lower bound {}, at its upper {};", percent(history.at_lower),
                        percent(history.at_upper));
  }
  text += fmt::format(" refused {}, taken back {}\n", percent(history.refused), percent(history.retreated));
  if (history.model) {
    text += fmt::format("{:<{}} off by {} standard deviations one step ahead, {} at a window's end\n", "model", kLabel,
                        number(history.model->step), number(history.model->window));
  }
  if (!history.deliveries.empty()) {
    text += row("  promised, each", history.deliveries,
                [](const Delivery& d) { return d.updates == 0 ? "-" : number(d.predicted); });
    text += row("  share that came", history.deliveries, [](const Delivery& d) {
      return d.updates == 0 ? "-" : fmt::format("{:.0f} ± {:.0f} %", 100.0 * d.share, 100.0 * d.se);
    });
  }
  return text;
}

std::string motion_text(const Diagnosis& diagnosis, const EvaluationReport& evaluation) {
  std::string text;
  for (const CostReport& cost : evaluation.costs) {
    if (evaluation.episodes == 0) break;
    text += fmt::format("{:<{}} 5 % of the episodes below {:.4g}, half below {:.4g}, 5 % above {:.4g}\n",
                        "cost " + cost.name, kLabel, cost.spread.low, cost.spread.median, cost.spread.high);
  }
  const ActionDiagnosis& actions = diagnosis.actions;
  text += fmt::format(
      "{:<{}} {} at the end of their range; they vary by {:.2g}, by quarters of the frequencies {}, {}, {}, {}{}\n",
      "actions without noise", kLabel, percent(actions.saturated), std::sqrt(actions.spectrum.total()),
      percent(actions.spectrum.share(0)), percent(actions.spectrum.share(1)), percent(actions.spectrum.share(2)),
      percent(actions.spectrum.share(3)),
      actions.upper_frequency > 0.0 ? fmt::format(" (the last from {:.3g} Hz)", actions.upper_frequency) : "");
  if (!diagnosis.inputs.empty()) {
    text +=
        fmt::format("{:<{}} number {}: {:.2g} standard deviations from the normaliser's mean\n", "farthest observation",
                    kLabel, diagnosis.inputs.front().index, diagnosis.inputs.front().root_mean_square);
  }
  if (diagnosis.contact) {
    text += fmt::format("{:<{}} {} of the steps:", "in contact", kLabel, percent(diagnosis.contact->any));
    std::vector<ContactShares::Geom> geoms = diagnosis.contact->geoms;
    std::stable_sort(geoms.begin(), geoms.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
    for (std::size_t i = 0; i < geoms.size(); ++i)
      text += fmt::format("{} {} {}", i == 0 ? "" : ",", geoms[i].name, percent(geoms[i].share));
    text += "\n";
  }
  return text;
}

// Breaks a sentence into lines.
std::string wrap(const std::string& text, const std::string& first, const std::string& others) {
  constexpr std::size_t kWidth = 118;
  std::string result;
  std::string line = first;
  std::size_t begin = 0;
  bool empty = true;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!empty && line.size() + 1 + word.size() > kWidth) {
      result += line + "\n";
      line = others;
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
    begin = end + 1;
  }
  return result + line + "\n";
}

std::string findings_text(const std::vector<Finding>& findings) {
  std::string text;
  const auto list = [&](bool problems, const char* heading) {
    int count = 0;
    for (const Finding& finding : findings) {
      if (finding.problem != problems) continue;
      if (count == 0) text += heading;
      text += wrap(finding.text, fmt::format("{:>2}. ", ++count), "    ");
      text += wrap(finding.advice, "    Try: ", "         ");
    }
    return count;
  };
  if (list(true, "What looks wrong:\n") == 0) text += "Nothing looks wrong.\n";
  list(false, "Good to know:\n");
  return text;
}

Json to_json(const GradientLength& length) {
  Json result;
  result["norm"] = length.norm;
  result["se"] = length.error;
  result["signal_to_noise"] = length.signal_to_noise();
  return result;
}

Json to_json(const Diagnosis& diagnosis) {
  Json result;
  result["signals"] = diagnosis.signals;
  result["environments"] = diagnosis.environments;
  result["window"] = diagnosis.window;
  result["radius"] = diagnosis.radius;
  result["gradient"] = Json::array();
  for (const GradientLength& length : diagnosis.gradient) result["gradient"].push_back(to_json(length));
  result["gradient_signals"] = diagnosis.gradient_signals;
  result["reach"] = diagnosis.reach;
  result["windows"] = Json::array();
  for (const WindowGradients& entry : diagnosis.windows) {
    Json window;
    window["window"] = entry.window;
    window["gradient"] = Json::array();
    for (const GradientLength& length : entry.signals) window["gradient"].push_back(to_json(length));
    result["windows"].push_back(std::move(window));
  }
  result["critic_explained"] = diagnosis.critic_explained;
  result["critic_cosines"] = diagnosis.critic_cosines;
  if (diagnosis.twin) {
    const TwinDiagnosis& twin = *diagnosis.twin;
    Json& entry = result["twin"];
    entry["error"] = twin.error;
    entry["window_error"] = twin.window_error;
    entry["parameters"] = Json::object();
    for (const auto& [name, value] : twin.parameters) entry["parameters"][name] = value;
    entry["episodes"] = twin.episodes;
    entry["cosines"] = Json::array();
    for (const GradientCosine& of : twin.cosines) {
      Json cosine;
      cosine["cosine"] = of.cosine;
      cosine["se"] = of.error;
      entry["cosines"].push_back(std::move(cosine));
    }
  }
  Json actions;
  actions["saturated"] = diagnosis.actions.saturated;
  actions["power"] = diagnosis.actions.spectrum.quarters;
  actions["upper_shares"] = diagnosis.actions.upper_shares;
  actions["upper_frequency"] = diagnosis.actions.upper_frequency;
  result["actions"] = std::move(actions);
  result["observations"] = Json::array();
  for (const InputDiagnosis& input : diagnosis.inputs) {
    Json entry;
    entry["index"] = input.index;
    entry["root_mean_square"] = input.root_mean_square;
    result["observations"].push_back(std::move(entry));
  }
  if (diagnosis.contact) {
    Json contact;
    contact["share"] = diagnosis.contact->any;
    contact["states"] = diagnosis.contact->states;
    contact["geoms"] = Json::object();
    for (const ContactShares::Geom& geom : diagnosis.contact->geoms) contact["geoms"][geom.name] = geom.share;
    result["contact"] = std::move(contact);
  }
  return result;
}

Json to_json(const RunHistory& history) {
  Json result;
  result["iterations"] = history.iterations;
  result["recent"] = history.recent;
  if (history.trust_region) {
    result["radius_at_lower"] = history.at_lower;
    result["radius_at_upper"] = history.at_upper;
  }
  result["refused"] = history.refused;
  result["retreated"] = history.retreated;
  result["delivered"] = Json::array();
  for (const Delivery& delivery : history.deliveries) {
    Json entry;
    entry["updates"] = delivery.updates;
    entry["share"] = delivery.share;
    entry["se"] = delivery.se;
    entry["predicted"] = delivery.predicted;
    result["delivered"].push_back(std::move(entry));
  }
  if (history.model) {
    result["model"]["step_error"] = history.model->step;
    result["model"]["window_error"] = history.model->window;
  }
  result["warnings"] = history.warnings;
  if (!history.last_warning.empty()) result["last_warning"] = history.last_warning;
  if (history.best_return) {
    result["best_return"] = *history.best_return;
    result["best_iteration"] = history.best_iteration;
  }
  result["recent_return"] = history.recent_return;
  return result;
}

}  // namespace

std::string to_text(const Explanation& explanation, const std::vector<Finding>& findings) {
  const Diagnosis& diagnosis = explanation.diagnosis;
  return gradients_text(diagnosis, explanation.evaluation, explanation.history.trust_region) +
         (diagnosis.twin ? twin_text(*diagnosis.twin, diagnosis.signals) : "") + history_text(explanation.history) +
         motion_text(diagnosis, explanation.evaluation) + "\n" + findings_text(findings);
}

Json to_json(const Explanation& explanation, const std::vector<Finding>& findings) {
  Json result;
  result["findings"] = Json::array();
  for (const Finding& finding : findings) {
    Json entry;
    entry["cause"] = finding.cause;
    entry["problem"] = finding.problem;
    entry["text"] = finding.text;
    entry["try"] = finding.advice;
    result["findings"].push_back(std::move(entry));
  }
  result["diagnosis"] = to_json(explanation.diagnosis);
  result["history"] = to_json(explanation.history);
  return result;
}

}  // namespace cgpo
