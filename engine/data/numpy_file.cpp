// SPDX-License-Identifier: Apache-2.0
#include "data/numpy_file.h"

#include <unistd.h>
#include <zip.h>

#include <new>

#include "base/atomic_file.h"
#include "base/error.h"
#include "data/npy_format.h"

namespace quantloupe {

namespace {

namespace fs = std::filesystem;

// Deflate packs at most 1032 bytes into one; an entry that claims more is damaged or hostile.
constexpr std::uint64_t kMaxInflation = 1100;

struct ZipDiscard {
    void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct EntryClose {
    void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};
struct SourceFree {
    void operator()(zip_source_t* source) const { zip_source_free(source); }
};
using Archive = std::unique_ptr<zip_t, ZipDiscard>;
using ZipEntry = std::unique_ptr<zip_file_t, EntryClose>;

Archive openArchive(const InputFile& file) {
    int code = 0;
    const int descriptor = ::dup(file.descriptor());  // a separate descriptor, because the archive closes it
    Archive archive(zip_fdopen(descriptor, 0, &code));
    if (archive) return archive;
    ::close(descriptor);
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string text = zip_error_strerror(&error);
    zip_error_fini(&error);
    if (code == ZIP_ER_NOZIP || code == ZIP_ER_INCONS)
        failInput("this is not a .npz file, or it is incomplete ({})", text);
    fail(ErrorKind::Io, "the file cannot be opened: {}", text);
}

/// Reads an entry; returns null if its type is not supported.
ConstantPtr readEntry(zip_t* archive, const zip_stat_t& stat) {
    if (stat.size / kMaxInflation > stat.comp_size)
        failInput("the entry claims to contain {} bytes compressed to {}: it is damaged or malicious",
                  stat.size, stat.comp_size);
    const ZipEntry entry(zip_fopen_index(archive, stat.index, 0));
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
        const InputFile file(path);
        std::uint64_t done = 0;
        const ByteSource source = [&](std::byte* target, std::size_t count) {
            const auto there = static_cast<std::size_t>(std::min<std::uint64_t>(count, file.size() - done));
            file.read(target, there, done);
            done += there;
            return there;
        };
        const NpyHeader header = readNpyHeader(source);
        return readNpyData(header, source, file.size() - std::min(file.size(), header.bytes));
    } catch (Error& error) {
        error.addContext(fmt::format("array file '{}'", path.string())).setNamesFile();
        throw;
    }
}

std::map<std::string, ConstantPtr> loadNpz(const fs::path& path, std::vector<std::string>* others) {
    constexpr std::string_view kSuffix = ".npy";
    std::map<std::string, ConstantPtr> arrays;
    try {
        const InputFile file(path);
        const Archive archive = openArchive(file);
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
                if (ConstantPtr array = readEntry(archive.get(), stat))
                    arrays[name] = std::move(array);
                else if (others != nullptr)
                    others->push_back(name);
            } catch (Error& error) {
                error.addContext(fmt::format("array '{}'", name));
                throw;
            }
        }
    } catch (Error& error) {
        error.addContext(fmt::format("array file '{}'", path.string())).setNamesFile();
        throw;
    }
    return arrays;
}

namespace {

/// Adds the array as NAME.npy; libzip reads `header` and the array when the archive is closed.
void addArray(zip_t* archive, const std::string& name, const Constant& array, const std::string& header) {
    const auto part = [](const void* data, std::size_t size) {
        return zip_buffer_fragment_t{static_cast<zip_uint8_t*>(const_cast<void*>(data)), size};
    };
    const std::array<zip_buffer_fragment_t, 2> parts = {part(header.data(), header.size()),
                                                        part(array.bytes().data(), array.bytes().size())};
    zip_source_t* source = zip_source_buffer_fragment(archive, parts.data(), parts.size(), 0);
    const zip_int64_t index =
        source == nullptr ? -1 : zip_file_add(archive, (name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        zip_source_free(source);
        fail(ErrorKind::Io, "array '{}' cannot be added: {}", name, zip_strerror(archive));
    }
    const auto at = static_cast<zip_uint64_t>(index);
    zip_set_file_compression(archive, at, ZIP_CM_STORE, 0);
    constexpr zip_uint16_t kJanuary1980 = (1 << 5) | 1;  // the same arrays give the same file
    zip_file_set_dostime(archive, at, 0, kJanuary1980, 0);
}

void copyTo(StagedFile& file, zip_source_t* source) {
    std::string block(std::size_t{1} << 20, '\0');
    if (zip_source_open(source) != 0) failInput("{}", zip_error_strerror(zip_source_error(source)));
    for (;;) {
        const zip_int64_t got = zip_source_read(source, block.data(), block.size());
        if (got < 0) failInput("{}", zip_error_strerror(zip_source_error(source)));
        if (got == 0) break;
        file.write(std::string_view(block).substr(0, static_cast<std::size_t>(got)));
    }
    zip_source_close(source);
}

}  // namespace

void saveNpz(const std::map<std::string, ConstantPtr>& arrays, const fs::path& path) {
    try {
        if (arrays.empty()) failInput("there are no arrays to write");
        StagedFile file(path);
        std::vector<std::string> headers;
        headers.reserve(arrays.size());
        const std::unique_ptr<zip_source_t, SourceFree> memory(
            zip_source_buffer_create(nullptr, 0, 0, nullptr));
        if (!memory) throw std::bad_alloc();
        Archive archive(zip_open_from_source(memory.get(), ZIP_TRUNCATE, nullptr));
        if (!archive) throw std::bad_alloc();
        zip_source_keep(memory.get());  // the archive frees one reference
        for (const auto& [name, array] : arrays)
            addArray(archive.get(), name, *array, headers.emplace_back(npyHeaderFor(*array)));
        if (zip_close(archive.get()) != 0)
            fail(ErrorKind::Io, "the file cannot be written: {}", zip_strerror(archive.get()));
        (void)archive.release();
        copyTo(file, memory.get());
        file.commit();
    } catch (Error& error) {
        error.addContext(fmt::format("array file '{}'", path.string()));
        throw;
    }
}

}  // namespace quantloupe
