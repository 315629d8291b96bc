#include "describe.hpp"

#include <algorithm>

#include "arguments.hpp"
#include "firstlight/device.hpp"
#include "firstlight/program.hpp"
#include "firstlight/variant.hpp"
#include "json.hpp"
#include "kernels.hpp"

namespace fl {
namespace {

class Describer final : public Fields {
 public:
  explicit Describer(Json& json) : json_(json) {}
  void integer(const char* name, Index& value, const char* unit, Index least, Index most, const char* help) override {
    begin(name, unit, std::to_string(value), help, "integer");
    json_.member("least", least).member("most", most);
    end(name);
  }
  void real(const char* name, double& value, const char* unit, double least, double most, const char* help) override {
    begin(name, unit, shortest(value), help, "real");
    json_.member("least", least).member("most", most);
    end(name);
  }
  void choice(const char* name, std::string& value, const char* options, const char* help) override {
    one_of(name, value, options, help, "choice");
  }
  void file(const char* name, Document& value, const char* options, const char* help) override {
    one_of(name, value.name, options, help, "file");
    files_.emplace_back(name);
  }
  void storage(const char* name, Storage& value, const char* help) override {
    begin(name, "", value.name, help, "storage");
    end(name);
  }

 private:
  void one_of(const char* name, const std::string& value, const char* options, const char* help, const char* kind) {
    constexpr std::size_t longest = 200;  // a hundred kernels are a list, no sentence
    const std::string all = options;
    begin(name, "", value, all.size() <= longest ? help + (" (" + all + ")") : help, kind);
    json_.key("options").open('[');
    for (const std::string& option : options_here(name, all)) json_.value(option);
    json_.close(']');
    end(name);
  }
  // A parameter that is not declared when `file` names a file has no meaning with a file.
  void end(const std::string& name) {
    for (const std::string& file : files_) {
      const std::vector<std::string> left = declared_names(*workload.create(), file);
      if (std::find(left.begin(), left.end(), name) != left.end()) continue;
      json_.member("replaced_by", file);
      break;
    }
    json_.close('}');
  }
  void begin(const char* name, const char* unit, const std::string& standard, const std::string& help, const char* kind) {
    json_.open('{').member("name", name).member("unit", unit).member("default", standard).member("help", help).member("kind", kind);
  }
  Json& json_;
  std::vector<std::string> files_;
};

}  // namespace

std::string describe() {
  Json json;
  const About& about = *workload.about;
  json.open('{').member("workload", workload.name).member("variant", variant.name).member("title", about.title);
  json.key("parameters").open('[');
  Describer describer(json);
  workload.create()->declare(describer);
  json.close(']').key("metrics").open('[');
  for (std::size_t i = 0; i < workload.metric_count; ++i) {
    const Metric& metric = workload.metrics[i];
    json.open('{').member("name", metric.name).member("unit", metric.unit).member("quantity", metric.quantity);
    json.member("form", metric.form)
        .member("scale", metric.scale)
        .member("better", metric.better)
        .member("phase", metric.phase.name)
        .close('}');
  }
  json.close(']').key("phases").open('[');
  for (int k = 0; k < about.phases.count(); ++k) json.value(about.phases.name(k));
  json.close(']').key("kernels").open('[');
  for (const Kernel& kernel : variant.kernels) json.value(kernel.name);
  json.close(']').member("unverified", variant.unverified == nullptr ? "" : variant.unverified);
  json.member("device", variant.device == nullptr ? "" : variant.device->name);
  json.member("cost", about.cost).member("verified", about.verified).member("tolerance", about.tolerance).close('}');
  return json.text();
}

}  // namespace fl
