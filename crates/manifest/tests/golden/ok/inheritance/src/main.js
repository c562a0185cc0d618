console.log('{}')
