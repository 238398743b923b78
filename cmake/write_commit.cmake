# Writes the header OUTPUT with the commit of the sources in SOURCE. Runs in every build and changes the file only if
# the commit is another one, so that the version is right without configuring again.
cmake_minimum_required(VERSION 3.25)
set(commit "")
if(EXISTS "${SOURCE}/.git")
    execute_process(COMMAND git -C "${SOURCE}" describe --always --abbrev=12 --exclude=* --dirty
        OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
else()
    # In an archive made by "git archive", git has replaced the placeholder by the commit.
    file(READ "${SOURCE}/cmake/archived_commit.txt" archived)
    string(STRIP "${archived}" archived)
    if(archived MATCHES "^[0-9a-f]+$")
        string(SUBSTRING "${archived}" 0 12 commit)
    endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "#define QUANTLOUPE_COMMIT \"@commit@\"\n" @ONLY)
