// Reads the IDX files in which MNIST and Fashion-MNIST are published, plain or as .gz.
//
// Format: big-endian 32-bit numbers: magic (0x00000803 for images, 0x00000801 for labels), the
// number of items and, for images, rows and columns; then one byte for each pixel or label.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "samples/common/labeled_images.h"

namespace digits {

// Each throws std::runtime_error naming the file, what was expected and what was found: a file of
// another kind, one that is shorter or longer than its header says, empty images, a label above 9.
LabeledImages read_idx_images(const std::string& path);  // labels stays empty
std::vector<std::uint8_t> read_idx_labels(const std::string& path);

// Reads FOLDER/PART-images-idx3-ubyte and FOLDER/PART-labels-idx1-ubyte, each with or without
// ".gz"; part is "train" or "t10k" (the test images). Also throws when the two files have different
// numbers of items.
LabeledImages read_idx_folder(const std::string& folder, const std::string& part);

}  // namespace digits
