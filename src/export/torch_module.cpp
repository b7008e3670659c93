#include "cgpo/export/torch_module.hpp"

#include <fmt/format.h>
#include <span>
#include <string_view>

#include "cgpo/base/base64.hpp"
#include "cgpo/base/tensors.hpp"
#include "cgpo/base/version.hpp"

namespace cgpo {
namespace {

constexpr std::string_view kHead =
    R"PY("""A policy trained with {0}, as a torch.nn.Module. This file needs torch and nothing else.

    from policy import Policy
    policy = Policy()
    control = policy(torch.as_tensor(observation))  # [n] or [batch, n], raw, as the task gives it

What it gives is METADATA["action"]; policy.action(obs) is the policy's own action, in (-1, 1), and policy.control(action)
makes a control of it. Parameters can be trained on; Policy.check() compares with what the program itself computed.
"""

import base64
import json
import struct

import torch


)PY";

constexpr std::string_view kModule = R"PY(

def _tensors(file):
    """The tensors of a file in the safetensors layout: a length, a JSON header, raw data."""
    (length,) = struct.unpack("<Q", file[:8])
    header = json.loads(file[8 : 8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + at for at in entry["data_offsets"])
        values = torch.frombuffer(bytearray(file[begin:end]), dtype=torch.float32)
        tensors[name] = values.reshape(entry["shape"])
    return tensors


class Policy(torch.nn.Module):
    """From raw observations to physical control, without noise."""

    def __init__(self):
        super().__init__()
        tensors = _tensors(base64.b64decode(_WEIGHTS))
        for name in ("mean", "inverse_std", "scale", "offset", "low", "high"):
            self.register_buffer(name, tensors[name])
        layers = []
        for i in range(sum(name.endswith(".bias") for name in tensors)):
            bias = tensors[f"layer{i}.bias"]
            weight = tensors[f"layer{i}.weight"].reshape(len(bias), -1)
            layer = torch.nn.Linear(weight.shape[1], weight.shape[0])
            with torch.no_grad():
                layer.weight.copy_(weight)
                layer.bias.copy_(bias)
            layers += [layer, torch.nn.Tanh()]
        self.network = torch.nn.Sequential(*layers)

    def action(self, obs):
        """The policy's own action, in (-1, 1)."""
        return self.network((obs - self.mean) * self.inverse_std)

    def control(self, action):
        """From such an action to what the actuators get."""
        return torch.minimum(torch.maximum(self.offset + self.scale * action, self.low), self.high)

    def forward(self, obs):
        return self.control(self.action(obs))

    @classmethod
    def check(cls, tolerance=1e-5):
        """Raises AssertionError if this does not compute what the program that trained it computed."""
        with torch.no_grad():
            control = cls()(torch.tensor(METADATA["example_observations"]))
        expected = torch.tensor(METADATA["example_actions"])
        torch.testing.assert_close(control, expected, rtol=tolerance, atol=tolerance)


if __name__ == "__main__":
    Policy.check()
    print(f"{METADATA['task']}: {len(METADATA['example_actions'])} examples agree; verdict: {METADATA['verdict']}")
)PY";

Tensors weights_of(const DeployedPolicy& policy) {
  Tensors tensors;
  const auto put = [&](const std::string& name, const std::vector<float>& values) {
    tensors.put(name, std::span<const float>(values));
  };
  put("mean", policy.mean);
  put("inverse_std", policy.inverse_std);
  put("scale", policy.rule.scale);
  put("offset", policy.rule.offset);
  put("low", policy.rule.low);
  put("high", policy.rule.high);
  for (std::size_t l = 0; l < policy.layers.size(); ++l) {
    put(fmt::format("layer{}.weight", l), policy.layers[l].weight);
    put(fmt::format("layer{}.bias", l), policy.layers[l].bias);
  }
  return tensors;
}

// As one text in parentheses, in lines.
std::string python_text(std::string_view text) {
  constexpr std::size_t kLine = 110;
  std::string lines = "(\n";
  for (; !text.empty(); text.remove_prefix(std::min(kLine, text.size()))) {
    lines += fmt::format("    \"{}\"\n", text.substr(0, kLine));
  }
  return lines + ")\n";
}

}  // namespace

// In JSON no three quotation marks follow one another, so the raw text of METADATA ends where it should.
std::string torch_module(const DeployedPolicy& policy) {
  const std::string weights = format_tensors(weights_of(policy));
  std::string text = fmt::format(fmt::runtime(kHead), kVersion);
  text += "METADATA = json.loads(r\"\"\"" + json_text(policy.metadata, 1) + "\"\"\")\n\n";
  text += "# Weights, in the safetensors layout.\n_WEIGHTS = ";
  text += python_text(encode_base64(std::as_bytes(std::span(weights))));
  return text + std::string(kModule);
}

}  // namespace cgpo
