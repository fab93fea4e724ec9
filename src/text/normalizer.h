// NFC as the reference tokenizer has it: with the tables of Unicode 9. Marks that came later are neither reordered nor composed.
#pragma once

#include <string>
#include <string_view>

namespace teapot::text {

// text must be well-formed UTF-8. The result views text itself where it is in NFC already (always for ASCII), else storage.
// Linear time.
std::string_view to_nfc(std::string_view text, std::string& storage);

}  // namespace teapot::text
