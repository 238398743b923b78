// SPDX-License-Identifier: Apache-2.0
#include "data/numpy_file.h"

#include <zip.h>

#include <cstring>
#include <fstream>

#include "base/error.h"
#include "data/npy_format.h"

namespace quantloupe {

namespace {

namespace fs = std::filesystem;

// Deflate packs at most 1032 bytes into one; an entry that claims more is damaged or hostile.
constexpr std::uint64_t kMostInflation = 1100;

struct ZipDiscard {
    void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct EntryClose {
    void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};
using Archive = std::unique_ptr<zip_t, ZipDiscard>;
using Entry = std::unique_ptr<zip_file_t, EntryClose>;

Archive openArchive(const fs::path& path, int flags) {
    int code = 0;
    Archive archive(zip_open(path.c_str(), flags, &code));
    if (archive) return archive;
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string text = zip_error_strerror(&error);
    zip_error_fini(&error);
    if (code == ZIP_ER_NOZIP || code == ZIP_ER_INCONS)
        failInput("this is no .npz file, or an incomplete one ({})", text);
    fail(ErrorKind::Io, "the file cannot be opened: {}", text);
}

/// Null for an entry whose type we do not have.
ConstantPtr readEntry(zip_t* archive, const zip_stat_t& stat) {
    if (stat.size / kMostInflation > stat.comp_size)
        failInput("the entry claims {} bytes packed into {}: it is damaged or hostile", stat.size,
                  stat.comp_size);
    const Entry entry(zip_fopen_index(archive, stat.index, 0));
    if (!entry) failInput("the entry cannot be opened: {}", zip_strerror(archive));
    const ByteSource source = [&](std::byte* target, std::size_t size) {
        std::size_t done = 0;
        while (done < size) {
            const zip_int64_t got = zip_fread(entry.get(), target + done, size - done);
            if (got < 0) failInput("the entry is damaged: {}", zip_file_strerror(entry.get()));
            if (got == 0) break;
            done += static_cast<std::size_t>(got);
        }
        return done;
    };
    const NpyHeader header = readNpyHeader(source);
    if (header.type() == DataType::Undefined) return nullptr;
    ConstantPtr array = readNpyData(header, source, stat.size - std::min(stat.size, header.bytes));
    std::byte rest;
    while (source(&rest, 1) == 1) {  // the checksum is compared at the end only
    }
    return array;
}

}  // namespace

ConstantPtr loadNpy(const fs::path& path) {
    try {
        std::error_code error;
        const std::uintmax_t size = fs::file_size(path, error);
        std::ifstream file(path, std::ios::binary);
        if (error || !file)
            fail(ErrorKind::Io, "the file cannot be opened: check that it is there and readable");
        const ByteSource source = [&](std::byte* target, std::size_t count) {
            file.read(reinterpret_cast<char*>(target), static_cast<std::streamsize>(count));
            return static_cast<std::size_t>(file.gcount());
        };
        const NpyHeader header = readNpyHeader(source);
        return readNpyData(header, source, size - std::min<std::uintmax_t>(size, header.bytes));
    } catch (Error& error) {
        error.addContext(fmt::format("array file '{}'", path.string()));
        throw;
    }
}

std::map<std::string, ConstantPtr> loadNpz(const fs::path& path) {
    constexpr std::string_view kSuffix = ".npy";
    std::map<std::string, ConstantPtr> arrays;
    try {
        const Archive archive = openArchive(path, ZIP_RDONLY);
        const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
        for (zip_int64_t i = 0; i < count; ++i) {
            zip_stat_t stat;
            zip_stat_init(&stat);
            if (zip_stat_index(archive.get(), static_cast<zip_uint64_t>(i), 0, &stat) != 0 ||
                stat.name == nullptr)
                failInput("entry {} is damaged: {}", i, zip_strerror(archive.get()));
            std::string name = stat.name;
            if (!name.ends_with(kSuffix)) continue;
            name.resize(name.size() - kSuffix.size());
            try {
                if (ConstantPtr array = readEntry(archive.get(), stat)) arrays[name] = std::move(array);
            } catch (Error& error) {
                error.addContext(fmt::format("array '{}'", name));
                throw;
            }
        }
    } catch (Error& error) {
        error.addContext(fmt::format("array file '{}'", path.string()));
        throw;
    }
    return arrays;
}

void saveNpz(const std::map<std::string, ConstantPtr>& arrays, const fs::path& path) {
    try {
        if (arrays.empty()) failInput("there are no arrays to write");
        std::vector<std::vector<std::byte>> contents;  // libzip reads them when the archive is closed
        contents.reserve(arrays.size());
        Archive archive = openArchive(path, ZIP_CREATE | ZIP_TRUNCATE);
        for (const auto& [name, array] : arrays) {
            const std::string header = npyHeaderFor(*array);
            std::vector<std::byte>& content = contents.emplace_back(header.size() + array->bytes().size());
            std::memcpy(content.data(), header.data(), header.size());
            if (!array->bytes().empty())
                std::memcpy(content.data() + header.size(), array->bytes().data(), array->bytes().size());
            zip_source_t* source = zip_source_buffer(archive.get(), content.data(), content.size(), 0);
            const zip_int64_t index = source == nullptr ? -1
                                                        : zip_file_add(archive.get(), (name + ".npy").c_str(),
                                                                       source, ZIP_FL_ENC_UTF_8);
            if (index < 0) {
                zip_source_free(source);
                fail(ErrorKind::Io, "array '{}' cannot be added: {}", name, zip_strerror(archive.get()));
            }
            const auto at = static_cast<zip_uint64_t>(index);
            zip_set_file_compression(archive.get(), at, ZIP_CM_STORE, 0);
            constexpr zip_uint16_t kJanuary1980 = (1 << 5) | 1;  // the same arrays give the same file
            zip_file_set_dostime(archive.get(), at, 0, kJanuary1980, 0);
        }
        // Writes to a temporary file beside the target and renames it.
        if (zip_close(archive.get()) != 0)
            fail(ErrorKind::Io, "the file cannot be written: {}", zip_strerror(archive.get()));
        (void)archive.release();
    } catch (Error& error) {
        error.addContext(fmt::format("array file '{}'", path.string()));
        throw;
    }
}

}  // namespace quantloupe
