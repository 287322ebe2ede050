# A memory in POSIX sh and awk: every event is kept; those with most words of the query come first.
while IFS= read -r line; do
    case $line in
        '{"op": "write"'*)
            printf '%s\n' "$line" >> events
            echo '{"ok": true}' ;;
        '{"op": "retrieve"'*)
            touch events
            { printf '%s\n' "$line"; cat events; } | awk '
                function field(name,    rest) {  # the JSON text of a field, its quotes left out
                    if (!match($0, "\"" name "\": \"")) return ""
                    rest = substr($0, RSTART + RLENGTH)
                    match(rest, /^([^"\\]|\\.)*/)
                    return substr(rest, 1, RLENGTH)
                }
                NR == 1 {
                    count = split(tolower(field("query")), words, /[^a-z0-9]+/)
                    match($0, /"limit": [0-9]+/)
                    limit = substr($0, RSTART + 9, RLENGTH - 9) + 0  # a number
                    next
                }
                {
                    id[NR] = field("id"); text[NR] = field("text")
                    for (i = 1; i <= count; i++)
                        if (words[i] != "" && index(tolower(text[NR]), words[i])) score[NR]++
                }
                END {
                    printf "{\"items\": ["
                    for (n = 0; n < limit; n++) {
                        best = 0
                        for (i = 2; i <= NR; i++)
                            if (score[i] > 0 && (!best || score[i] > score[best])) best = i
                        if (!best) break
                        printf "%s{\"id\": \"%s\", \"text\": \"%s\", \"score\": %d}", \
                            (n ? ", " : ""), id[best], text[best], score[best]
                        score[best] = 0
                    }
                    print "]}"
                }' ;;
        '{"op": "reset"}')
            rm -f events
            echo '{"ok": true}' ;;
        *) exit ;;
    esac
done
