// An NVML of two invented GPUs, each with half of a power that follows from the monotonic clock alone.
// INVENTED_NVML: the name of a function that fails, or "none", with which no GPU is listed.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

constexpr double mean = 400, swing = 100, period = 0.3, w = 2 * 3.14159265358979323846 / period;
constexpr int not_supported = 3;

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

bool fails(const char* name) {
  const char* wanted = std::getenv("INVENTED_NVML");
  return wanted != nullptr && std::strcmp(wanted, name) == 0;
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return fails("init") ? not_supported : 0; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = fails("none") ? 0 : 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static char devices[2];
  *device = &devices[index];
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  const double t = now();
  *millijoules = static_cast<unsigned long long>(500 * (mean * t - swing / w * std::cos(w * t)));
  return fails("energy") || fails("power") ? not_supported : 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = static_cast<unsigned>(500 * (mean + swing * std::sin(w * now())));
  return fails("power") ? not_supported : 0;
}
}
