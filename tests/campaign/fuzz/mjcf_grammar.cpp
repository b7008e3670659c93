#include "mjcf_grammar.hpp"

#include <array>
#include <fmt/format.h>
#include <vector>

#include "fuzz.hpp"

namespace cgpo::fuzz {
namespace {

// What an attribute may be. A digit: so many numbers. '=': one of the words that follow, with '|' between. '@' and a
// letter: the name of an element of that kind, which may not exist.
struct Attribute {
  const char* name;
  const char* value;
};
struct Element {
  const char* name;
  std::vector<Attribute> attributes;
};

const std::vector<Attribute>& geom_attributes() {
  static const std::vector<Attribute> all = {{"type", "=sphere|capsule|plane|box|cylinder|ellipsoid|mesh|hfield|sdf"},
                                             {"size", "3"},
                                             {"pos", "3"},
                                             {"fromto", "6"},
                                             {"quat", "4"},
                                             {"euler", "3"},
                                             {"axisangle", "4"},
                                             {"zaxis", "3"},
                                             {"mass", "1"},
                                             {"density", "1"},
                                             {"friction", "3"},
                                             {"contype", "=0|1|2|3|-1|99999999999"},
                                             {"conaffinity", "=0|1|2|3"},
                                             {"condim", "=1|3|4|6|2|0"},
                                             {"margin", "1"},
                                             {"gap", "1"},
                                             {"priority", "=0|1|-1"},
                                             {"rgba", "4"},
                                             {"solref", "2"},
                                             {"solimp", "3"},
                                             {"mesh", "@m"},
                                             {"hfield", "@h"},
                                             {"material", "@t"},
                                             {"fluidshape", "=none|ellipsoid"},
                                             {"adhesion", "1"},
                                             {"surfacevel", "6"},
                                             {"class", "@d"}};
  return all;
}

const std::vector<Attribute>& joint_attributes() {
  static const std::vector<Attribute> all = {{"type", "=hinge|slide|ball|free"},
                                             {"axis", "3"},
                                             {"pos", "3"},
                                             {"range", "2"},
                                             {"limited", "=true|false|auto|maybe"},
                                             {"damping", "1"},
                                             {"damping", "3"},
                                             {"stiffness", "1"},
                                             {"stiffness", "2"},
                                             {"springyield", "1"},
                                             {"armature", "1"},
                                             {"actuatorfrcrange", "2"},
                                             {"actuatorgravcomp", "=true|false"},
                                             {"ref", "1"},
                                             {"springref", "1"},
                                             {"frictionloss", "1"},
                                             {"margin", "1"},
                                             {"springdamper", "2"},
                                             {"class", "@d"}};
  return all;
}

const std::vector<Attribute>& tendon_attributes() {
  static const std::vector<Attribute> all = {{"limited", "=true|false|auto"},
                                             {"range", "2"},
                                             {"stiffness", "1"},
                                             {"stiffness", "2"},
                                             {"springlength", "1"},
                                             {"springlength", "2"},
                                             {"damping", "1"},
                                             {"damping", "3"},
                                             {"armature", "1"},
                                             {"frictionloss", "1"},
                                             {"actuatorfrcrange", "2"},
                                             {"solreflimit", "2"},
                                             {"margin", "1"},
                                             {"class", "@d"}};
  return all;
}

const std::vector<Attribute>& equality_attributes() {
  static const std::vector<Attribute> all = {{"active", "=true|false"}, {"solref", "2"},  {"solimp", "3"},
                                             {"anchor", "3"},           {"relpose", "7"}, {"torquescale", "1"},
                                             {"polycoef", "5"},         {"class", "@d"}};
  return all;
}

const std::vector<Attribute>& body_attributes() {
  static const std::vector<Attribute> all = {
      {"pos", "3"},         {"quat", "4"},     {"euler", "3"},
      {"axisangle", "4"},   {"xyaxes", "6"},   {"mocap", "=true|false"},
      {"childclass", "@d"}, {"gravcomp", "1"}, {"sleep", "=auto|never|allowed|init"}};
  return all;
}

const std::vector<Attribute>& inertial_attributes() {
  static const std::vector<Attribute> all = {
      {"pos", "3"}, {"mass", "1"}, {"diaginertia", "3"}, {"fullinertia", "6"}, {"quat", "4"}};
  return all;
}

const std::vector<Attribute>& option_attributes() {
  static const std::vector<Attribute> all = {{"timestep", "1"},
                                             {"gravity", "3"},
                                             {"density", "1"},
                                             {"viscosity", "1"},
                                             {"wind", "3"},
                                             {"integrator", "=Euler|RK4|implicit|implicitfast|discrete|none"},
                                             {"solver", "=PGS|CG|Newton"},
                                             {"actuatorgroupdisable", "2"},
                                             {"cone", "=pyramidal|elliptic"},
                                             {"iterations", "=0|1|100|-1"}};
  return all;
}

const std::vector<Attribute>& compiler_attributes() {
  static const std::vector<Attribute> all = {{"angle", "=degree|radian"},
                                             {"alignfree", "=true|false"},
                                             {"eulerseq", "=xyz|ZYX|xxx|ab"},
                                             {"boundmass", "1"},
                                             {"boundinertia", "1"},
                                             {"settotalmass", "1"},
                                             {"balanceinertia", "=true|false"},
                                             {"inertiafromgeom", "=true|false|auto"},
                                             {"autolimits", "=true|false"},
                                             {"fusestatic", "=true|false"},
                                             {"discardvisual", "=true|false"}};
  return all;
}

const std::vector<Element>& actuators() {
  static const std::vector<Attribute> common = {{"joint", "@j"},
                                                {"jointinparent", "@j"},
                                                {"tendon", "@n"},
                                                {"site", "@s"},
                                                {"body", "@b"},
                                                {"gear", "6"},
                                                {"ctrlrange", "2"},
                                                {"ctrllimited", "=true|false"},
                                                {"forcerange", "2"},
                                                {"forcelimited", "=true|false"},
                                                {"kp", "1"},
                                                {"kv", "1"},
                                                {"ki", "1"},
                                                {"timeconst", "1"},
                                                {"dampratio", "1"},
                                                {"damping", "1"},
                                                {"damping", "2"},
                                                {"armature", "1"},
                                                {"delay", "1"},
                                                {"nsample", "=0|1|5|-1|1000"},
                                                {"group", "=0|1|2|31|-1"},
                                                {"input", "=pos vel|pos|pos vel ff|quat|expmap|none|voltage"},
                                                {"resistance", "1"},
                                                {"motorconst", "1"},
                                                {"class", "@d"},
                                                {"gainprm", "3"},
                                                {"biasprm", "3"},
                                                {"dyntype", "=none|integrator|filter|filterexact|muscle|user"},
                                                {"gaintype", "=fixed|affine|muscle|user"},
                                                {"biastype", "=none|affine|muscle|user"}};
  static const std::vector<Element> all = {{"motor", common},       {"general", common},     {"position", common},
                                           {"velocity", common},    {"intvelocity", common}, {"damper", common},
                                           {"cylinder", common},    {"muscle", common},      {"pid", common},
                                           {"orientation", common}, {"dcmotor", common}};
  return all;
}

class Writer {
 public:
  explicit Writer(std::string_view bytes) : choices_(bytes) {}

  std::string write() {
    if (choices_.below(64) == 63) return std::string(choices_.rest());  // no grammar at all
    text_ = "<mujoco>\n";
    if (often()) empty_element("compiler", compiler_attributes());
    if (often()) option();
    if (often()) defaults(0);
    if (often()) assets();
    if (seldom()) include();
    text_ += "<worldbody>\n";
    if (often()) element("geom", 'g', geom_attributes());
    body(0);
    while (often() && bodies_ < 12) body(0);
    text_ += "</worldbody>\n";
    if (seldom()) tendons();
    if (seldom()) contacts();
    if (seldom()) equalities();
    actuator_list();
    if (!seldom()) text_ += "</mujoco>\n";
    return std::move(text_);
  }

 private:
  bool often() { return choices_.byte() % 3 == 1; }
  bool seldom() { return choices_.byte() % 8 == 7; }

  std::string number() {
    static constexpr const char* kOdd[] = {"nan",   "inf",    "-inf",  "1e999",  "-1e300",
                                           "1e300", "1e-320", "0x1p3", "1e",     "abc",
                                           "",      "--1",    "1,2",   "NaN(7)", "99999999999999999999",
                                           "1e38",  "-0"};
    const unsigned kind = choices_.byte();
    if (kind < 96) return fmt::format("{}", 0.25 * (1 + kind % 16));
    if (kind < 176) return fmt::format("{}", static_cast<int>(kind % 9) - 4);
    if (kind < 208) return "0";
    if (kind < 240) return fmt::format("{}", choices_.number());
    return kOdd[choices_.below(std::size(kOdd))];
  }

  std::string numbers(int count) {
    std::string all;
    const unsigned off = choices_.byte();
    if (off >= 250) count += static_cast<int>(off % 3) - 1;  // one too few, one too many
    for (int i = 0; i < count; ++i) all += (i > 0 ? " " : "") + number();
    return all;
  }

  std::string word(std::string_view words) {
    const std::size_t count = 1 + static_cast<std::size_t>(std::count(words.begin(), words.end(), '|'));
    for (unsigned skip = choices_.below(static_cast<unsigned>(count)); skip > 0; --skip)
      words.remove_prefix(words.find('|') + 1);
    return std::string(words.substr(0, words.find('|')));
  }

  std::string value(std::string_view kind) {
    if (kind[0] == '=') return word(kind.substr(1));
    if (kind[0] == '@') return fmt::format("{}{}", kind[1], choices_.below(4));
    return numbers(kind[0] - '0');
  }

  void attribute(std::string_view name, std::string_view text) { text_ += fmt::format(" {}=\"{}\"", name, text); }

  void attributes(const std::vector<Attribute>& known) {
    for (unsigned left = choices_.below(5); left > 0; --left) {
      const Attribute& chosen = known[choices_.below(static_cast<unsigned>(known.size()))];
      attribute(chosen.name, value(chosen.value));
    }
  }

  void empty_element(std::string_view name, const std::vector<Attribute>& known) {
    text_ += fmt::format("<{}", name);
    attributes(known);
    text_ += "/>\n";
  }

  // With a name, which another one may have already.
  void element(std::string_view name, char kind, const std::vector<Attribute>& known) {
    text_ += fmt::format("<{} name=\"{}{}\"", name, kind,
                         seldom() ? choices_.below(4) : counts_[static_cast<std::size_t>(kind)]++);
    if (kind == 'g') attribute("size", ".1 .1 .1");
    attributes(known);
    text_ += "/>\n";
  }

  void option() {
    text_ += "<option";
    attributes(option_attributes());
    text_ += ">";
    if (often()) {
      static constexpr const char* kFlags[] = {"constraint", "equality",     "frictionloss", "limit",     "contact",
                                               "spring",     "damper",       "gravity",      "clampctrl", "sleep",
                                               "eulerdamp",  "filterparent", "actuation",    "override",  "energy"};
      text_ +=
          fmt::format("<flag {}=\"{}\"/>", kFlags[choices_.below(std::size(kFlags))], often() ? "enable" : "disable");
    }
    text_ += "</option>\n";
  }

  void defaults(int depth) {
    text_ += depth == 0 ? "<default>\n" : fmt::format("<default class=\"d{}\">\n", choices_.below(4));
    if (often()) empty_element("geom", geom_attributes());
    if (often()) empty_element("joint", joint_attributes());
    if (often()) empty_element("motor", actuators()[0].attributes);
    while (often() && depth < 3) defaults(depth + 1);
    text_ += "</default>\n";
  }

  void assets() {
    text_ += "<asset>\n";
    if (often()) text_ += fmt::format("<mesh name=\"m0\" vertex=\"{} {} {}\"/>\n", numbers(6), numbers(6), numbers(3));
    if (often())
      text_ += fmt::format("<hfield name=\"h0\" nrow=\"{}\" ncol=\"3\" size=\"{}\"/>\n", choices_.below(5), numbers(4));
    if (often()) text_ += fmt::format("<material name=\"t0\" rgba=\"{}\"/>\n", numbers(4));
    text_ += "</asset>\n";
  }

  void include() {
    static constexpr const char* kFiles[] = {"text.xml", "missing.xml", "", "/"};
    text_ += fmt::format("<include file=\"{}\"/>\n", kFiles[choices_.below(std::size(kFiles))]);
  }

  void body(int depth) {
    ++bodies_;
    text_ += fmt::format("<body name=\"b{}\"", seldom() ? choices_.below(4) : counts_['b']++);
    attributes(body_attributes());
    text_ += ">\n";
    if (seldom()) empty_element("inertial", inertial_attributes());
    if (!seldom()) element("joint", 'j', joint_attributes());
    while (often() && counts_['j'] < 20) element("joint", 'j', joint_attributes());
    if (seldom()) text_ += fmt::format("<freejoint name=\"j{}\"/>\n", counts_['j']++);
    if (!seldom()) element("geom", 'g', geom_attributes());
    while (often() && counts_['g'] < 30) element("geom", 'g', geom_attributes());
    if (often()) text_ += fmt::format("<site name=\"s{}\" pos=\"{}\"/>\n", counts_['s']++, numbers(3));
    while (often() && depth < 6 && bodies_ < 12) body(depth + 1);
    text_ += "</body>\n";
  }

  void tendons() {
    text_ += "<tendon>\n";
    do {
      const bool fixed = often();
      text_ += fmt::format("<{} name=\"n{}\"", fixed ? "fixed" : "spatial", counts_['n']++);
      attributes(tendon_attributes());
      text_ += ">";
      do {
        const unsigned id = choices_.below(4);
        if (fixed) {
          text_ += fmt::format("<joint joint=\"j{}\" coef=\"{}\"/>", id, number());
        } else if (seldom()) {
          text_ += fmt::format("<pulley divisor=\"{}\"/>", number());
        } else {
          text_ += seldom() ? fmt::format("<geom geom=\"g{}\"/>", id) : fmt::format("<site site=\"s{}\"/>", id);
        }
      } while (!seldom() && choices_.byte() % 4 != 0);
      text_ += fixed ? "</fixed>\n" : "</spatial>\n";
    } while (often() && counts_['n'] < 5);
    text_ += "</tendon>\n";
  }

  void contacts() {
    text_ += "<contact>\n";
    while (often())
      text_ += fmt::format("<pair geom1=\"g{}\" geom2=\"g{}\" friction=\"{}\"/>\n", choices_.below(4),
                           choices_.below(4), numbers(5));
    while (often())
      text_ += fmt::format("<exclude body1=\"b{}\" body2=\"b{}\"/>\n", choices_.below(4), choices_.below(4));
    text_ += "</contact>\n";
  }

  void equalities() {
    struct Kind {
      const char* name;
      const char* end;  // attribute of what it ties, without its number
      char what;
    };
    static constexpr Kind kKinds[] = {{"connect", "body", 'b'}, {"weld", "body", 'b'},   {"connect", "site", 's'},
                                      {"weld", "site", 's'},    {"joint", "joint", 'j'}, {"tendon", "tendon", 'n'}};
    text_ += "<equality>\n";
    do {
      const Kind& kind = kKinds[choices_.below(std::size(kKinds))];
      text_ += fmt::format("<{} {}1=\"{}{}\"", kind.name, kind.end, kind.what, choices_.below(4));
      if (!seldom()) text_ += fmt::format(" {}2=\"{}{}\"", kind.end, kind.what, choices_.below(4));
      attributes(equality_attributes());
      text_ += "/>\n";
    } while (often());
    text_ += "</equality>\n";
  }

  void actuator_list() {
    text_ += "<actuator>\n<motor name=\"u0\" joint=\"j0\"/>\n";
    while (often() && counts_['u'] < 10) {
      const Element& chosen = actuators()[choices_.below(static_cast<unsigned>(actuators().size()))];
      text_ += fmt::format("<{} name=\"a{}\"", chosen.name, counts_['u']++);
      if (!seldom()) attribute("joint", fmt::format("j{}", choices_.below(3)));
      attributes(chosen.attributes);
      text_ += "/>\n";
    }
    text_ += "</actuator>\n";
  }

  Choices choices_;
  std::string text_;
  int bodies_ = 0;
  std::array<int, 128> counts_{};
};

}  // namespace

std::string write_mjcf(std::string_view bytes) { return Writer(bytes).write(); }

}  // namespace cgpo::fuzz
