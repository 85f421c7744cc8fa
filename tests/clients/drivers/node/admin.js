const { ConfigResourceTypes, ConfigSource } = require('kafkajs')

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

const addPartitions = (kafka, { topic, partitions }) =>
  withAdmin(kafka, admin =>
    admin.createPartitions({ topicPartitions: [{ topic, count: partitions }] })
  )

const resource = topic => ({ type: ConfigResourceTypes.TOPIC, name: topic })

const ownConfigs = (kafka, { topic }) =>
  withAdmin(kafka, async admin => {
    const asked = { resources: [resource(topic)], includeSynonyms: false }
    const { resources } = await admin.describeConfigs(asked)
    const own = resources[0].configEntries.filter(
      ({ configSource }) => configSource === ConfigSource.TOPIC_CONFIG
    )
    return Object.fromEntries(own.map(({ configName, configValue }) => [configName, configValue]))
  })

const alterConfigs = (kafka, { topic, config }) =>
  withAdmin(kafka, admin => {
    const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }))
    return admin.alterConfigs({ resources: [{ ...resource(topic), configEntries }] })
  })

const deleteRecords = (kafka, { topic, partition, offset }) =>
  withAdmin(kafka, async admin => {
    // KafkaJS looks for the leader before it has asked about the topic: let it ask.
    await admin.fetchTopicOffsets(topic)
    await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(offset) }] })
  })

const describe = kafka =>
  withAdmin(kafka, async admin => {
    const { brokers } = await admin.describeCluster()
    const { topics } = await admin.fetchTopicMetadata()
    return {
      brokers: brokers.map(({ host, port }) => `${host}:${port}`),
      topics: Object.fromEntries(topics.map(({ name, partitions }) => [name, partitions.length])),
    }
  })

module.exports = {
  withAdmin,
  createTopic,
  deleteTopic,
  addPartitions,
  ownConfigs,
  alterConfigs,
  deleteRecords,
  describe,
}
