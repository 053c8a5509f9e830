f="$logs/$name.INFO"; [ -e "$f" ] || f="$logs/$name.INFO.impl"; if [ -z "$how" ] && [ ! -e "$f" ]; then exit 0; fi; exec tail -n "$lines" $how -- "$f" 2>/dev/null
