const unpack = text => (text === null ? null : Buffer.from(text, 'base64'))
const pack = bytes => (bytes === null || bytes === undefined ? null : bytes.toString('base64'))

// KafkaJS keeps headers by name; a name that repeats holds a list.
function unpackHeaders(pairs) {
  const headers = {}
  for (const [name, value] of pairs) (headers[name] ??= []).push(unpack(value))
  return headers
}

const packHeaders = headers =>
  Object.entries(headers ?? {}).flatMap(([name, values]) =>
    [values].flat().map(value => [name, pack(value)])
  )

module.exports = { unpack, pack, unpackHeaders, packHeaders }
