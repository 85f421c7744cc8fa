require('./codecs')
const Batch = require('kafkajs/src/consumer/batch')
const { withAdmin } = require('./admin')
const { pack, packHeaders } = require('./records')

const BYTES_PER_PARTITION = 1048576 // the default of KafkaJS's consumer
const CREATE_CLUSTER = 'private:Kafka:createCluster'
const levels = { read_uncommitted: 0, read_committed: 1 }

const packed = partition => message => ({
  key: pack(message.key),
  value: pack(message.value),
  headers: packHeaders(message.headers),
  timestamp: Number(message.timestamp),
  partition,
  offset: Number(message.offset),
})

// The consumer of KafkaJS cannot be without a group. The layer under it can: this is the loop of
// its consumer over its own connections, requests and decoders, with the partitions given.
async function consume(kafka, { topic, partition, start, count, isolation }) {
  const offsets = await startOffsets(kafka, topic, partition, start)
  const cluster = createCluster(kafka)
  await cluster.connect()
  try {
    await cluster.addTargetTopic(topic)
    return await read(cluster, topic, offsets, count, levels[isolation])
  } finally {
    await cluster.disconnect()
  }
}

function createCluster(kafka) {
  const symbols = Object.getOwnPropertySymbols(kafka)
  return kafka[symbols.find(one => one.description === CREATE_CLUSTER)]({ metadataMaxAge: 300000 })
}

async function startOffsets(kafka, topic, partition, start) {
  const found = await withAdmin(kafka, admin =>
    typeof start === 'number'
      ? admin.fetchTopicOffsetsByTimestamp(topic, start)
      : admin.fetchTopicOffsets(topic)
  )
  const wanted = found.filter(one => partition === null || one.partition === partition)
  const edge = { earliest: 'low', latest: 'high' }[start] ?? 'offset'
  return new Map(wanted.map(one => [one.partition, one[edge]]))
}

async function read(cluster, topic, offsets, count, isolationLevel) {
  const found = []
  while (found.length < count) {
    for (const batch of await fetchOnce(cluster, topic, offsets, isolationLevel)) {
      found.push(...batch.messages.map(packed(batch.partition)))
      if (!batch.isEmptyIncludingFiltered()) {
        offsets.set(batch.partition, (BigInt(batch.lastOffset()) + 1n).toString())
      }
    }
  }
  return found.slice(0, count)
}

async function fetchOnce(cluster, topic, offsets, isolationLevel) {
  const leaders = cluster.findLeaderForPartitions(topic, [...offsets.keys()])
  const fetched = Object.entries(leaders).map(async ([nodeId, partitions]) => {
    const broker = await cluster.findBroker({ nodeId })
    const wanted = partitions.map(partition => ({
      partition,
      fetchOffset: offsets.get(partition),
      maxBytes: BYTES_PER_PARTITION,
    }))
    const topics = [{ topic, partitions: wanted }]
    const { responses } = await broker.fetch({ isolationLevel, topics })
    return responses.flatMap(one =>
      one.partitions.map(data => new Batch(topic, offsets.get(data.partition), data))
    )
  })
  return (await Promise.all(fetched)).flat()
}

async function consumeInGroup(kafka, { topic, group, count }) {
  const consumer = kafka.consumer({ groupId: group })
  await consumer.connect()
  try {
    await consumer.subscribe({ topic, fromBeginning: true })
    return await new Promise(resolve => {
      const found = []
      const eachMessage = async ({ partition, message }) => {
        found.push(packed(partition)(message))
        if (found.length === count) resolve(found)
      }
      consumer.run({ eachMessage })
    })
  } finally {
    await consumer.disconnect()
  }
}

module.exports = { consume, consumeInGroup }
