// The search for NaN in the text of a model, before MuJoCo's compiler takes it for "not given".
#include "cgpo/physics/mujoco/handle.hpp"

#include "fuzz.hpp"

using namespace cgpo;

CGPO_FUZZ(input) {
  fuzz::passes([&] { check_written_numbers(std::string(input), "fuzz.xml"); });
}
