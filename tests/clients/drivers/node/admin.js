async function withAdmin(kafka, work) {
  const admin = kafka.admin()
  await admin.connect()
  try {
    return await work(admin)
  } finally {
    await admin.disconnect()
  }
}

const createTopic = (kafka, { topic, partitions, config }) =>
  withAdmin(kafka, async admin => {
    const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }))
    const wanted = { topic, numPartitions: partitions, replicationFactor: 1, configEntries }
    // KafkaJS throws for every failure but this one.
    const created = await admin.createTopics({ topics: [wanted] })
    if (!created) throw new Error(`topic ${topic} already exists`)
  })

const deleteTopic = (kafka, { topic }) =>
  withAdmin(kafka, admin => admin.deleteTopics({ topics: [topic] }))

const describe = kafka =>
  withAdmin(kafka, async admin => {
    const { brokers } = await admin.describeCluster()
    const { topics } = await admin.fetchTopicMetadata()
    return {
      brokers: brokers.map(({ host, port }) => `${host}:${port}`),
      topics: Object.fromEntries(topics.map(({ name, partitions }) => [name, partitions.length])),
    }
  })

module.exports = { withAdmin, createTopic, deleteTopic, describe }
