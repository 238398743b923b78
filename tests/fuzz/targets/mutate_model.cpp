// SPDX-License-Identifier: Apache-2.0
// A libFuzzer mutator that changes single fields of a model rather than bytes, so that most results can still
// be parsed and exercise more than the parser.
#include <google/protobuf/descriptor.h>
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t maxSize);

namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Random = std::mt19937;

std::size_t below(Random& random, std::size_t count) { return random() % count; }

template <typename T>
const T& oneOf(Random& random, const std::vector<T>& list) {
    return list[below(random, list.size())];
}

const std::vector<std::string>& operatorNames() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const onnx::OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas())
            if (schema.domain().empty()) all.push_back(schema.Name());
        return all;
    }();
    return names;
}

/// All messages of a model, and the names in it.
class Contents {
  public:
    explicit Contents(Message& root) { collect(root); }
    const std::vector<Message*>& messages() const { return m_messages; }
    const std::vector<std::string>& names() const { return m_names; }

    /// A copy of any message of this type; null if there is none.
    std::unique_ptr<Message> copyOf(const Descriptor* type, Random& random) const {
        std::vector<const Message*> found;
        for (const Message* message : m_messages)
            if (message->GetDescriptor() == type) found.push_back(message);
        if (found.empty()) return nullptr;
        const Message& chosen = *oneOf(random, found);
        std::unique_ptr<Message> copy(chosen.New());
        copy->CopyFrom(chosen);
        return copy;
    }

  private:
    void collect(Message& message) {
        m_messages.push_back(&message);
        const Reflection& reflection = *message.GetReflection();
        std::vector<const FieldDescriptor*> fields;
        reflection.ListFields(message, &fields);
        for (const FieldDescriptor* field : fields) {
            const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
            for (int i = 0; i < count; ++i) {
                if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
                    collect(field->is_repeated() ? *reflection.MutableRepeatedMessage(&message, field, i)
                                                 : *reflection.MutableMessage(&message, field));
                else if (field->type() == FieldDescriptor::TYPE_STRING)
                    m_names.push_back(field->is_repeated() ? reflection.GetRepeatedString(message, field, i)
                                                           : reflection.GetString(message, field));
            }
        }
    }

    std::vector<Message*> m_messages;
    std::vector<std::string> m_names{"", "nowhere"};
};

/// Changes one field.
class Mutation {
  public:
    Mutation(Message& model, Random& random) : m_contents(model), m_random(random) {
        Message& message = *oneOf(m_random, m_contents.messages());
        const Reflection& reflection = *message.GetReflection();
        std::vector<const FieldDescriptor*> fields;
        reflection.ListFields(message, &fields);
        if (fields.empty() || oneIn(4)) {
            const auto* type = message.GetDescriptor();
            fields.clear();
            for (int i = 0; i < type->field_count(); ++i) fields.push_back(type->field(i));
        }
        if (fields.empty()) return;
        const FieldDescriptor* field = oneOf(m_random, fields);
        if (field->is_repeated())
            changeList(message, reflection, field);
        else
            changeValue(message, reflection, field);
    }

  private:
    bool oneIn(std::size_t count) { return below(m_random, count) == 0; }

    std::int64_t integer(std::int64_t old) {
        static const std::vector<std::int64_t> kSpecial = {0,
                                                           1,
                                                           -1,
                                                           2,
                                                           3,
                                                           5,
                                                           7,
                                                           11,
                                                           13,
                                                           17,
                                                           255,
                                                           2147483647,
                                                           2147483648,
                                                           -2147483648,
                                                           std::int64_t{1} << 32,
                                                           std::int64_t{1} << 62,
                                                           std::numeric_limits<std::int64_t>::min(),
                                                           std::numeric_limits<std::int64_t>::max()};
        const auto step = static_cast<std::int64_t>(below(m_random, 5)) - 2;
        return oneIn(2) ? oneOf(m_random, kSpecial)
                        : static_cast<std::int64_t>(static_cast<std::uint64_t>(old) +
                                                    static_cast<std::uint64_t>(step));
    }
    double real(double old) {
        static const std::vector<double> kSpecial = {0,    -1,
                                                     0.5,  1e-45,
                                                     1e38, std::numeric_limits<double>::infinity(),
                                                     -0.0, std::numeric_limits<double>::quiet_NaN()};
        return oneIn(2) ? oneOf(m_random, kSpecial) : old * 2 - 1;
    }
    std::string text(const FieldDescriptor* field, const std::string& old) {
        if (field->name() == "op_type") return oneOf(m_random, operatorNames());
        if (field->type() == FieldDescriptor::TYPE_STRING) return oneOf(m_random, m_contents.names());
        static const std::vector<std::string> kWords = {"",          "NOTSET", "SAME_UPPER", "linear",
                                                        "cubic",     "edge",   "max",        "bidirectional",
                                                        "ij,jk->ik", "\xff"};
        if (field->name() == "s" && oneIn(2)) return oneOf(m_random, kWords);
        std::string bytes = old;
        bytes.resize(old.size() + 16);
        bytes.resize(
            LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), old.size(), bytes.size()));
        return bytes;
    }
    int enumValue(const FieldDescriptor* field) {
        const auto* type = field->enum_type();
        return type->value(static_cast<int>(below(m_random, static_cast<std::size_t>(type->value_count()))))
            ->number();
    }

    void changeValue(Message& message, const Reflection& reflection, const FieldDescriptor* field) {
        if (oneIn(8)) return reflection.ClearField(&message, field);
        switch (field->cpp_type()) {
            case FieldDescriptor::CPPTYPE_INT32:
                return reflection.SetInt32(
                    &message, field, static_cast<std::int32_t>(integer(reflection.GetInt32(message, field))));
            case FieldDescriptor::CPPTYPE_INT64:
                return reflection.SetInt64(&message, field, integer(reflection.GetInt64(message, field)));
            case FieldDescriptor::CPPTYPE_UINT64:
                return reflection.SetUInt64(&message, field,
                                            static_cast<std::uint64_t>(integer(static_cast<std::int64_t>(
                                                reflection.GetUInt64(message, field)))));
            case FieldDescriptor::CPPTYPE_FLOAT:
                return reflection.SetFloat(
                    &message, field,
                    static_cast<float>(real(static_cast<double>(reflection.GetFloat(message, field)))));
            case FieldDescriptor::CPPTYPE_DOUBLE:
                return reflection.SetDouble(&message, field, real(reflection.GetDouble(message, field)));
            case FieldDescriptor::CPPTYPE_ENUM:
                return reflection.SetEnumValue(&message, field, enumValue(field));
            case FieldDescriptor::CPPTYPE_STRING:
                return reflection.SetString(&message, field,
                                            text(field, reflection.GetString(message, field)));
            case FieldDescriptor::CPPTYPE_MESSAGE: {
                // Copied first: the change can delete what is copied.
                const auto copy = m_contents.copyOf(field->message_type(), m_random);
                Message& part = *reflection.MutableMessage(&message, field);
                if (copy) part.CopyFrom(*copy);
                return;
            }
            default:
                return;
        }
    }

    /// Removes, exchanges, repeats, adds or changes an element.
    void changeList(Message& message, const Reflection& reflection, const FieldDescriptor* field) {
        const int count = reflection.FieldSize(message, field);
        const auto any = [&] { return static_cast<int>(below(m_random, static_cast<std::size_t>(count))); };
        const std::size_t action = below(m_random, 5);
        if (count > 0 && action == 0) {
            reflection.SwapElements(&message, field, any(), count - 1);
            return reflection.RemoveLast(&message, field);
        }
        if (count > 1 && action == 1) return reflection.SwapElements(&message, field, any(), any());
        if (count == 0 || action == 2) return add(message, reflection, field);
        changeElement(message, reflection, field, any());
    }
    void add(Message& message, const Reflection& reflection, const FieldDescriptor* field) {
        switch (field->cpp_type()) {
            case FieldDescriptor::CPPTYPE_INT32:
                reflection.AddInt32(&message, field, 1);
                break;
            case FieldDescriptor::CPPTYPE_INT64:
                reflection.AddInt64(&message, field, 1);
                break;
            case FieldDescriptor::CPPTYPE_FLOAT:
                reflection.AddFloat(&message, field, 1);
                break;
            case FieldDescriptor::CPPTYPE_STRING:
                reflection.AddString(&message, field, {});
                break;
            case FieldDescriptor::CPPTYPE_MESSAGE:
                reflection.AddMessage(&message, field);
                break;
            default:
                return;
        }
        changeElement(message, reflection, field, reflection.FieldSize(message, field) - 1);
    }
    void changeElement(Message& message, const Reflection& reflection, const FieldDescriptor* field, int i) {
        switch (field->cpp_type()) {
            case FieldDescriptor::CPPTYPE_INT32:
                return reflection.SetRepeatedInt32(
                    &message, field, i,
                    static_cast<std::int32_t>(integer(reflection.GetRepeatedInt32(message, field, i))));
            case FieldDescriptor::CPPTYPE_INT64:
                return reflection.SetRepeatedInt64(&message, field, i,
                                                   integer(reflection.GetRepeatedInt64(message, field, i)));
            case FieldDescriptor::CPPTYPE_FLOAT:
                return reflection.SetRepeatedFloat(&message, field, i,
                                                   static_cast<float>(real(static_cast<double>(
                                                       reflection.GetRepeatedFloat(message, field, i)))));
            case FieldDescriptor::CPPTYPE_STRING:
                return reflection.SetRepeatedString(
                    &message, field, i, text(field, reflection.GetRepeatedString(message, field, i)));
            case FieldDescriptor::CPPTYPE_MESSAGE: {
                const auto copy = m_contents.copyOf(field->message_type(), m_random);
                Message& part = *reflection.MutableRepeatedMessage(&message, field, i);
                if (copy) part.CopyFrom(*copy);
                return;
            }
            default:
                return;
        }
    }

    Contents m_contents;
    Random& m_random;
};

bool parse(onnx::ModelProto& model, const std::uint8_t* data, std::size_t size) {
    return size > 0 && model.ParseFromArray(data, static_cast<int>(size));
}

/// Writes the model; returns 0 if it is too large.
std::size_t write(const onnx::ModelProto& model, std::uint8_t* data, std::size_t maxSize) {
    const std::string bytes = model.SerializePartialAsString();
    if (bytes.size() > maxSize) return 0;
    std::memcpy(data, bytes.data(), bytes.size());
    return bytes.size();
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t maxSize,
                                               unsigned int seed) {
    Random random(seed);
    onnx::ModelProto model;
    if (below(random, 20) == 0 || !parse(model, data, size)) return LLVMFuzzerMutate(data, size, maxSize);
    for (std::size_t i = 0, count = 1 + below(random, 3); i < count; ++i) Mutation(model, random);
    const std::size_t written = write(model, data, maxSize);
    return written > 0 ? written : LLVMFuzzerMutate(data, size, maxSize);
}

/// Replaces a part of the first model with a part of the second, or appends the second graph to the first.
extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t firstSize,
                                                 const std::uint8_t* second, std::size_t secondSize,
                                                 std::uint8_t* data, std::size_t maxSize, unsigned int seed) {
    Random random(seed);
    onnx::ModelProto model, other;
    if (!parse(model, first, firstSize) || !parse(other, second, secondSize)) return 0;
    if (below(random, 4) == 0) {
        model.mutable_graph()->MergeFrom(other.graph());
    } else {
        Message& changed = *oneOf(random, Contents(model).messages());
        if (const auto part = Contents(other).copyOf(changed.GetDescriptor(), random))
            changed.CopyFrom(*part);
    }
    return write(model, data, maxSize);
}
