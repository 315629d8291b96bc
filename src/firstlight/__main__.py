from firstlight.commands.shared.command_line import main

main()
