#include "whereabouts.hpp"

#include "comm.hpp"
#include "firstlight/program.hpp"
#include "firstlight/variant.hpp"

namespace fl {

std::string lacks_device() {
  if (variant.device == nullptr) return "";
  const std::string mine = variant.device->lacking();
  return mine.empty() ? "" : text("this variant of %s needs a GPU; %s", workload.name, mine.c_str());
}

void choose_device() {
  if (variant.device != nullptr) variant.device->choose(comm::place() % variant.device->count());
}

void Whereabouts::forget() {
  if (variant.device != nullptr) variant.device->forget();
}

void Whereabouts::query() {
  if (variant.device != nullptr) seen_ = variant.device->seen();
}

void Whereabouts::record(Recorder& recorder, int number) const {
  if (variant.device != nullptr) recorder.devices(number, seen_);
}

bool Whereabouts::astray() const { return variant.device != nullptr && seen_.place != device::on_device; }

Check Whereabouts::judged(const Check& found) const {
  if (!found.ok || !astray()) return found;
  const char* where = seen_.place == device::on_host ? "ran on the host" : "it is not visible where it ran";
  return {false, 1, 0, text("%s, and is to run on a device of %s", where, variant.device->name)};
}

}  // namespace fl
