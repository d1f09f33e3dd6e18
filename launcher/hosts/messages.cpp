#include "launcher/hosts/messages.h"

#include <type_traits>

namespace ddprun::hosts {
namespace {

constexpr std::size_t kHead = 4;
constexpr std::uint32_t kLongest = std::uint32_t{64} << 20;

// One function for both directions, so that they cannot disagree about an order of fields.
class Writer {
 public:
  std::string bytes;

  void operator()(const std::uint32_t& value) {
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes += static_cast<char>(static_cast<unsigned char>(value >> shift));
  }
  void operator()(const int& value) { (*this)(static_cast<std::uint32_t>(value)); }
  void operator()(const std::uint16_t& value) { (*this)(std::uint32_t{value}); }
  void operator()(const bool& value) { (*this)(std::uint32_t{value}); }
  void operator()(const std::string& text) {
    (*this)(static_cast<std::uint32_t>(text.size()));
    bytes += text;
  }
  template <class T>
  void operator()(const std::optional<T>& value) {
    (*this)(value.has_value());
    if (value) (*this)(*value);
  }
  template <class T>
  void operator()(const std::vector<T>& all) {
    (*this)(static_cast<std::uint32_t>(all.size()));
    for (const T& one : all) fields(*this, one);
  }
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool good() const { return good_; }
  bool at_end() const { return bytes_.empty(); }

  void operator()(std::uint32_t& value) {
    if (bytes_.size() < 4) return void(good_ = false);
    value = 0;
    for (int i = 0; i < 4; ++i)
      value = value << 8 | static_cast<unsigned char>(bytes_[static_cast<std::size_t>(i)]);
    bytes_.remove_prefix(4);
  }
  void operator()(int& value) { value = static_cast<int>(number()); }
  void operator()(std::uint16_t& value) { value = static_cast<std::uint16_t>(number()); }
  void operator()(bool& value) { value = number() != 0; }
  void operator()(std::string& text) {
    const std::uint32_t size = number();
    if (size > bytes_.size()) return void(good_ = false);
    text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
  }
  template <class T>
  void operator()(std::optional<T>& value) {
    bool there = false;
    (*this)(there);
    if (!there) return;
    (*this)(value.emplace());
  }
  // Each element takes a byte at least, so a wrong number costs no memory.
  template <class T>
  void operator()(std::vector<T>& all) {
    const std::uint32_t count = number();
    for (std::uint32_t i = 0; good_ && i < count; ++i) fields(*this, all.emplace_back());
  }

 private:
  std::uint32_t number() {
    std::uint32_t value = 0;
    (*this)(value);
    return value;
  }

  std::string_view bytes_;
  bool good_ = true;
};

template <class T, class U>
concept Is = std::is_same_v<std::remove_const_t<T>, U>;

// Of a value itself, for lists of texts.
template <class Archive, Is<std::string> T>
void fields(Archive& a, T& text) {
  a(text);
}
template <class Archive, Is<Host> T>
void fields(Archive& a, T& m) {
  a(m.name), a(m.user), a(m.port), a(m.slots);
}
template <class Archive, Is<Node> T>
void fields(Archive& a, T& m) {
  a(m.index), fields(a, m.host);
}
template <class Archive, Is<Start> T>
void fields(Archive& a, T& m) {
  a(m.version), a(m.branch), a(m.nodes), a(m.directory), a(m.options);
  a(m.files), a(m.command);
  a(m.environment), a(m.shell_words), a(m.remote_ddprun), a(m.own_path), a(m.patience_ms);
  a(m.silence_ms), a(m.grace_ms), a(m.credit);
}
template <class Archive, Is<Begin> T>
void fields(Archive& a, T& m) {
  a(m.for_first), a(m.for_others), a(m.host), a(m.port);
}
template <class Archive, Is<Signal> T>
void fields(Archive& a, T& m) {
  a(m.signo);
}
template <class Archive, Is<Ping> T>
void fields(Archive&, T&) {}
template <class Archive, Is<Credit> T>
void fields(Archive& a, T& m) {
  a(m.index), a(m.stream), a(m.bytes);
}
template <class Archive, Is<Hello> T>
void fields(Archive& a, T& m) {
  a(m.index);
}
template <class Archive, Is<Lines> T>
void fields(Archive& a, T& m) {
  a(m.index), a(m.stream), a(m.text);
}
template <class Archive, Is<Listening> T>
void fields(Archive& a, T& m) {
  a(m.index), a(m.host), a(m.port);
}
template <class Archive, Is<Report> T>
void fields(Archive& a, T& m) {
  a(m.index), a(m.first_hand), a(m.text);
}
template <class Archive, Is<Ended> T>
void fields(Archive& a, T& m) {
  a(m.index), a(m.code), a(m.by_signal);
}
template <class Archive, Is<Out> T>
void fields(Archive& a, T& m) {
  a(m.index), a(m.before_hello), a(m.why);
}

template <std::size_t kKind = 0>
std::optional<Message> read_as(std::size_t kind, Reader& reader) {
  if constexpr (kKind < std::variant_size_v<Message>) {
    if (kind != kKind) return read_as<kKind + 1>(kind, reader);
    std::variant_alternative_t<kKind, Message> message;
    fields(reader, message);
    if (!reader.good() || !reader.at_end()) return std::nullopt;
    return message;
  } else {
    return std::nullopt;
  }
}

}  // namespace

std::string encode(const Message& message) {
  Writer body;
  body.bytes += static_cast<char>(message.index());
  std::visit([&](const auto& each) { fields(body, each); }, message);
  Writer head;
  head(static_cast<std::uint32_t>(body.bytes.size()));
  return head.bytes + body.bytes;
}

Result<std::optional<Message>> Decoder::next() {
  const std::string_view all = std::string_view(buffer_).substr(taken_);
  std::uint32_t size = 0;
  if (all.size() >= kHead) Reader{all}(size);
  if (size > kLongest || (all.size() >= kHead && size == 0))
    return Error{"what came is not from a ddprun"};
  if (all.size() < kHead || all.size() - kHead < size) {
    buffer_.erase(0, taken_);
    taken_ = 0;
    return std::optional<Message>();
  }
  Reader reader(all.substr(kHead + 1, size - 1));
  auto message = read_as(static_cast<unsigned char>(all[kHead]), reader);
  if (!message) {
    Reader first(all.substr(kHead + 1, size - 1));
    if (all[kHead] == 0) first(version_);  // a Start
    if (!first.good()) version_.clear();
    return Error{"what came is not from a ddprun of this version"};
  }
  taken_ += kHead + size;
  return message;
}

}  // namespace ddprun::hosts
