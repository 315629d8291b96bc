#include "device_check.hpp"

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

void DeviceCheck::forget() {
  if (variant.device != nullptr) variant.device->forget();
}

void DeviceCheck::query() {
  if (variant.device != nullptr) seen_ = variant.device->seen();
}

void DeviceCheck::record(Recorder& recorder, int number) const {
  if (variant.device != nullptr) recorder.devices(number, seen_);
}

bool DeviceCheck::off_device() const { return variant.device != nullptr && seen_.place != device::on_device; }

Check DeviceCheck::judged(const Check& found) const {
  if (!found.ok || !off_device()) return found;
  const char* where = seen_.place == device::on_host ? "ran on the host" : "its place of execution is not visible";
  return {false, 1, 0, text("%s, but must run on a device of %s", where, variant.device->name)};
}

}  // namespace fl
