#include "search/joint.hpp"

#include <algorithm>
#include <utility>

namespace rulewright {
namespace {

constexpr std::size_t kMostCodes = 256;
constexpr std::size_t kMostGroups = 8;  // of a part: threads share the parts

// Adds a column to the first joint code that has room for it; tells whether there was one.
bool place(std::vector<Joint>& joints, std::size_t column, std::size_t n_codes) {
    for (Joint& joint : joints) {
        if (joint.n_codes * n_codes > kMostCodes) continue;
        joint.digits.push_back({column, n_codes, joint.n_codes});
        joint.n_codes *= n_codes;
        return true;
    }
    if (joints.size() == kGroup || n_codes > kMostCodes) return false;
    joints.push_back({{{column, n_codes, 1}}, n_codes});
    return true;
}

// Adds the columns of the next group to a part; tells whether all found room.
template <class Code>
bool extend(Part& part, const Columns<Code>& columns, std::span<const Code> largest) {
    std::vector<Joint> joints = part.joints;
    const std::size_t first = part.last_group * kGroup;
    for (std::size_t j = first; j < first + columns.width(part.last_group); ++j) {
        if (!place(joints, j, std::size_t{largest[j]} + 1)) return false;
    }
    part.joints = std::move(joints);
    ++part.last_group;
    return true;
}

template <class Code>
void fill_bytes(Part& part, const Columns<Code>& columns) {
    part.bytes.resize(columns.n_rows * kGroup);
    for (std::size_t place = 0; place < part.joints.size(); ++place) {
        for (const Digit& digit : part.joints[place].digits) {
            const Code* codes = columns.column(digit.column);
            std::uint8_t* bytes = part.bytes.data() + place;
            for (std::size_t i = 0; i < columns.n_rows * kGroup; i += kGroup) {
                bytes[i] = static_cast<std::uint8_t>(bytes[i] + codes[i] * digit.stride);
            }
        }
    }
}

// Whether the codes of a part are such bytes already.
template <class Code>
bool has_bytes(const Part& part, const ColumnKinds& columns) {
    const std::size_t n_columns = part.last_column(columns) - part.first_column();
    return sizeof(Code) == 1 && part.joints.size() == n_columns;
}

}  // namespace

template <class Code>
std::vector<Part> parts_of(const Columns<Code>& columns, std::span<const Code> largest) {
    std::vector<Part> parts;
    for (std::size_t group = 0; group < columns.n_groups();) {
        Part part{group, group, {}, {}};
        while (part.last_group < std::min(group + kMostGroups, columns.n_groups()) &&
               extend(part, columns, largest)) {
        }
        part.last_group = std::max(part.last_group, group + 1);
        if (!part.joints.empty() && !has_bytes<Code>(part, columns)) fill_bytes(part, columns);
        group = part.last_group;
        parts.push_back(std::move(part));
    }
    return parts;
}

template std::vector<Part> parts_of(const Columns<std::uint8_t>&, std::span<const std::uint8_t>);
template std::vector<Part> parts_of(const Columns<std::uint16_t>&, std::span<const std::uint16_t>);

}  // namespace rulewright
