#include "samples/common/idx.h"

#include <gmock/gmock.h>

#include "tests/unit/samples/data_file.h"

namespace digits {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Two images of 1x3 pixels, and their labels.
const std::string kImages = big_endian({0x803, 2, 1, 3}) + "\x01\x02\x03\xfd\xfe\xff";
const std::string kLabels = big_endian({0x801, 2}) + "\x07\x09";

class Idx : public ::testing::Test {
 protected:
  std::string images_error(const std::string& bytes) {
    const auto path = folder.write("images", bytes);
    const auto error = error_of([&] { read_idx_images(path); });
    EXPECT_THAT(error, StartsWith(path + ": "));
    return error;
  }
  std::string labels_error(const std::string& bytes) {
    const auto path = folder.write("labels", bytes);
    const auto error = error_of([&] { read_idx_labels(path); });
    EXPECT_THAT(error, StartsWith(path + ": "));
    return error;
  }

  DataFolder folder;
};

TEST_F(Idx, ReadsImages) {
  const auto images = read_idx_images(folder.write("images", kImages));
  EXPECT_EQ(images.rows, 1u);
  EXPECT_EQ(images.columns, 3u);
  EXPECT_EQ(images.white, 255);
  EXPECT_THAT(images.pixels, ElementsAre(1, 2, 3, 253, 254, 255));
}

TEST_F(Idx, ReadsLabels) {
  EXPECT_THAT(read_idx_labels(folder.write("labels", kLabels)), ElementsAre(7, 9));
}

TEST_F(Idx, ReadsGzip) {
  EXPECT_THAT(read_idx_images(folder.write("images.gz", gzip(kImages))).pixels,
              ElementsAre(1, 2, 3, 253, 254, 255));
}

TEST_F(Idx, ReadsMoreThanOneChunk) {
  const std::size_t size = 3 * 1024 * 1024 + 5;
  std::string pixels(size, '\x11');
  pixels.back() = '\x22';
  const auto images = read_idx_images(
      folder.write("big.gz", gzip(big_endian({0x803, std::uint32_t{size}, 1, 1}) + pixels)));
  ASSERT_EQ(images.pixels.size(), size);
  EXPECT_EQ(images.pixels[size - 2], 0x11);
  EXPECT_EQ(images.pixels.back(), 0x22);
}

TEST_F(Idx, FolderOfPlainAndGzipFiles) {
  folder.write("train-images-idx3-ubyte.gz", gzip(kImages));
  folder.write("train-labels-idx1-ubyte", kLabels);
  const auto images = read_idx_folder(folder.path(), "train");
  EXPECT_EQ(images.size(), 2u);
  EXPECT_EQ(images.pixels.size(), 6u);
  EXPECT_THAT(images.labels, ElementsAre(7, 9));
}

TEST_F(Idx, MissingFileNamesBothForms) {
  folder.write("train-images-idx3-ubyte.gz", gzip(kImages));
  EXPECT_EQ(error_of([&] { read_idx_folder(folder.path(), "train"); }),
            folder.path("train-labels-idx1-ubyte") +
                ": expected this file or train-labels-idx1-ubyte.gz, found neither");
}

TEST_F(Idx, DifferentNumbersOfImagesAndLabels) {
  folder.write("t10k-images-idx3-ubyte", kImages);
  folder.write("t10k-labels-idx1-ubyte", big_endian({0x801, 1}) + "\x07");
  EXPECT_THAT(error_of([&] { read_idx_folder(folder.path(), "t10k"); }),
              AllOf(StartsWith(folder.path("t10k-labels-idx1-ubyte")),
                    HasSubstr("expected 2 labels"), HasSubstr("found 1")));
}

TEST_F(Idx, LabelsWhereImagesBelong) {
  EXPECT_THAT(images_error(kLabels), HasSubstr("expected the first four bytes 0x00000803 (an IDX "
                                               "file of images), found 0x00000801 (an IDX "
                                               "file of labels)"));
  EXPECT_THAT(labels_error(kImages), HasSubstr("found 0x00000803 (an IDX file of images)"));
}

TEST_F(Idx, ForeignFile) {
  EXPECT_THAT(images_error("<!DOCTYPE html><title>404</title>"), HasSubstr("found 0x3c21444f"));
}

TEST_F(Idx, EmptyAndCutHeader) {
  EXPECT_THAT(images_error(""), HasSubstr("expected an IDX header of 16 bytes, found a file of 0"));
  EXPECT_THAT(images_error(kImages.substr(0, 15)),
              HasSubstr("header of 16 bytes, found a file of 15"));
  EXPECT_THAT(labels_error(kLabels.substr(0, 7)),
              HasSubstr("header of 8 bytes, found a file of 7"));
}

TEST_F(Idx, ShorterThanTheHeaderSays) {
  EXPECT_THAT(images_error(kImages.substr(0, kImages.size() - 1)),
              HasSubstr("expected 6 bytes for 2 images of 1x3, found 5"));
  EXPECT_THAT(labels_error(big_endian({0x801, 3}) + "\x01"),
              HasSubstr("expected 3 bytes for 3 labels, found 1"));
}

TEST_F(Idx, LongerThanTheHeaderSays) {
  EXPECT_THAT(images_error(kImages + "x"),
              HasSubstr("expected the end of the file after 2 images of 1x3"));
}

// Neither may reserve what the header asks for, nor may the product of the lengths wrap around to a
// small number.
TEST_F(Idx, AbsurdLengths) {
  constexpr std::uint32_t kMost = 0xffffffff;
  EXPECT_THAT(images_error(big_endian({0x803, kMost, kMost, kMost})),
              HasSubstr("pixels, found a header of"));
  EXPECT_THAT(images_error(big_endian({0x803, 1u << 31, 1u << 31, 4})),
              HasSubstr("pixels, found a header of"));
  EXPECT_THAT(images_error(big_endian({0x803, 1, 1u << 31, 2})),
              HasSubstr("pixels, found a header of"));
  EXPECT_THAT(labels_error(big_endian({0x801, kMost}) + "\x01"),
              HasSubstr("expected 4294967295 bytes"));
}

TEST_F(Idx, NoImages) {
  EXPECT_THAT(images_error(big_endian({0x803, 0, 28, 28})),
              HasSubstr("found a header of 0 images of 28x28"));
  EXPECT_THAT(images_error(big_endian({0x803, 2, 0, 28})),
              HasSubstr("found a header of 2 images of 0x28"));
  EXPECT_THAT(labels_error(big_endian({0x801, 0})), HasSubstr("found a header of 0"));
}

TEST_F(Idx, LabelAboveNine) {
  EXPECT_THAT(labels_error(big_endian({0x801, 2}) + "\x09\x0a"),
              HasSubstr("expected labels 0 to 9, found 10 as label 1"));
}

TEST_F(Idx, CutGzip) {
  const auto packed = gzip(kImages);
  for (std::size_t size = 3; size < packed.size(); ++size) {
    EXPECT_NE(images_error(packed.substr(0, size)), "") << "cut to " << size << " bytes";
  }
  EXPECT_THAT(images_error(packed.substr(0, packed.size() - 2)),
              HasSubstr("the compressed data is cut off"));
}

TEST_F(Idx, DamagedGzip) {
  auto packed = gzip(kImages);
  packed[packed.size() - 6] ^= 1;  // in the checksum
  EXPECT_THAT(images_error(packed), HasSubstr("the compressed data is damaged"));
}

TEST_F(Idx, FolderInPlaceOfAFile) {
  EXPECT_THAT(error_of([&] { read_idx_images(folder.path()); }),
              HasSubstr("expected a file, found a folder"));
}

TEST_F(Idx, NoFile) {
  EXPECT_THAT(error_of([&] { read_idx_labels(folder.path("nothing")); }),
              HasSubstr("cannot be opened: No such file or directory"));
}

}  // namespace
}  // namespace digits
